"""The outer JSON of every topic: which message, since when, in which attempt."""

from typing import Annotated, Generic, Self, TypeVar
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, model_validator

from assay_contracts import bounds
from assay_contracts.fields import WIRE

P = TypeVar("P", covariant=True)


def _read_id(value: object) -> object:
    """The UUID of its one accepted spelling; every other thing is left for the strict check to refuse."""
    if isinstance(value, str):
        identity = UUID(value)
        if str(identity) == value:
            return identity
    return value


class Envelope(BaseModel, Generic[P], frozen=True):
    """Version 1. A retry keeps `id` and `ts` (epoch seconds of the first publish) and adds 1 to `attempt`."""

    model_config = ConfigDict(strict=True, extra="ignore", hide_input_in_errors=True)

    version: Annotated[int, Field(ge=1, le=1)] = 1
    id: Annotated[UUID, BeforeValidator(_read_id)]
    ts: Annotated[int, Field(ge=0, le=bounds.LAST_SECOND)]
    attempt: Annotated[int, Field(ge=1, le=bounds.COUNT)]
    payload: P

    @model_validator(mode="after")
    def _check_version(self, info: ValidationInfo) -> Self:
        if info.context == WIRE and "version" not in self.model_fields_set:
            raise ValueError("a document states its version")
        return self
