"""A capture as it is handed in: the metadata part of `POST /v1/captures`, with every bound that intake holds."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from assay_contracts import bounds, fields
from assay_contracts.fields import Message, Optional, Tuple


class CapturePins(Message):
    """The pins of a job, bounded."""

    adapter: Optional[fields.BoundedAdapter] = None
    profile: Optional[fields.BoundedProfile] = None


class DeclaredArtifact(Message):
    """One of the parts that follow the metadata; a stated hash or length is checked against what arrives."""

    part: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
    media_type: fields.MediaType
    sha256: Optional[fields.Sha256] = None
    bytes: Optional[Annotated[int, Field(ge=0, le=bounds.POSITION)]] = None


class CaptureRequest(Message):
    """What a client states about a capture; the tenant is that of its API key. A key or a URL names the listing."""

    schema_version: Literal["capture/1"] = "capture/1"
    idempotency_key: Annotated[str, Field(pattern=r"^[!-~]{1,200}$")]
    catalog_id: fields.BoundedCatalogId
    source_id: fields.BoundedSourceId
    url: Optional[fields.Url] = None
    key: Optional[Annotated[str, Field(min_length=1, max_length=bounds.URL)]] = None
    observed_at: fields.Timestamp
    fetch_status: Annotated[int, Field(ge=100, le=599)]
    artifacts: Annotated[Tuple[DeclaredArtifact], Field(min_length=1, max_length=bounds.ARTIFACTS)]
    pins: CapturePins | None
    trace_id: Optional[Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]] = None

    @model_validator(mode="after")
    def _check_name(self) -> Self:
        if self.url is None and self.key is None:
            raise ValueError("a capture needs a url or a key")
        return self
