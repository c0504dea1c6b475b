"""The base of every report: how sure a model is, and what it noticed about the content it was given."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from assay_contracts.shapes import OpenMessage, Record


class Safety(Record):
    """Whether content that was handed over as data tried to give orders."""

    injection_detected: bool
    injection_type: Literal["direct-override", "role-swap", "hidden-instruction", "other"] | None = None
    injection_details: str | None = None
    content_quality: Literal["clean", "suspicious", "malformed"]

    @model_validator(mode="after")
    def _check_injection(self) -> Self:
        if not self.injection_detected and self.injection_type is not None:
            raise ValueError("what was not detected has no type")
        return self


class ReportBase(Record, OpenMessage):
    """What an extension's own report is built upon; other fields of a document are kept as they came."""

    confidence: Annotated[int | float, Field(ge=0, le=1)]
    safety: Safety
