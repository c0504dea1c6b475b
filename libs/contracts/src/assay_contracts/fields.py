"""The fields that messages share: ids, hashes, refs, timestamps and decimals, each with its pattern and bound."""

from functools import cache
from typing import Annotated, Final, Self, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, model_validator

from assay_contracts import bounds, decimals, ids, timestamps

WIRE: Final = {"wire": True}
"""Validation context of a document: an absent field stays absent, and null does not stand for it."""

_T = TypeVar("_T")


class Message(BaseModel):
    """A frozen, closed piece of a message; it refuses what its schema refuses and converts nothing."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", hide_input_in_errors=True)

    @model_validator(mode="after")
    def _check_constants(self, info: ValidationInfo) -> Self:
        if info.context == WIRE and not _constants(type(self)) <= self.model_fields_set:
            raise ValueError("a constant stands in the document, too")
        return self


@cache
def _constants(model: type[BaseModel]) -> frozenset[str]:
    """Fields that code may leave to their default and a document may not."""
    return frozenset(name for name, field in model.model_fields.items() if isinstance(field.default, str))


def _is_none(value: object) -> bool:
    return value is None


def _refuse_null(value: object, info: ValidationInfo) -> object:
    if value is None and info.context == WIRE:
        raise ValueError("null is not the absence of a field")
    return value


def _check_timestamp(text: timestamps.Timestamp) -> timestamps.Timestamp:
    if not timestamps.is_timestamp(text):
        raise ValueError("not a timestamp")
    return text


def _check_end(text: str) -> str:
    if not (timestamps.is_timestamp(text) or timestamps.is_date(text)):
        raise ValueError("neither a date nor a timestamp")
    return text


Optional = Annotated[_T | None, Field(exclude_if=_is_none), BeforeValidator(_refuse_null)]
"""A field that may be left out of the document, None standing for that; never null on the wire."""

Tuple = Annotated[tuple[_T, ...], Field(strict=False)]
"""An array; a list serves to build it."""

Timestamp = Annotated[timestamps.Timestamp, AfterValidator(_check_timestamp)]
DateOrTimestamp = Annotated[str, AfterValidator(_check_end)]

TenantId = Annotated[ids.TenantId, Field(pattern=r"^ten_[a-z0-9_]+$")]
CatalogId = Annotated[ids.CatalogId, Field(pattern=r"^cat_[a-z0-9_]+$")]
SourceId = Annotated[ids.SourceId, Field(pattern=r"^src_[a-z0-9_]+$")]
CaptureId = Annotated[ids.CaptureId, Field(pattern=r"^cap_[A-Za-z0-9_]+$")]
ReceiptId = Annotated[ids.ReceiptId, Field(pattern=r"^rcpt_[A-Za-z0-9_]+$")]
ArtifactId = Annotated[ids.ArtifactId, Field(pattern=r"^art_[A-Za-z0-9_]+$")]
JobId = Annotated[
    ids.JobId, Field(pattern=r"^cap_[A-Za-z0-9_]+:(extract|normalize|identity|llm_extract|llm_review):[0-9]+$")
]
ListingId = Annotated[ids.ListingId, Field(pattern=r"^lst_[A-Za-z0-9_]+$", max_length=bounds.ID)]
ItemId = Annotated[ids.ItemId, Field(pattern=r"^item_[A-Za-z0-9_]+$", max_length=bounds.ID)]
DecisionId = Annotated[ids.DecisionId, Field(pattern=r"^dec_[A-Za-z0-9_]+$", max_length=bounds.ID)]
EventId = Annotated[ids.EventId, Field(pattern=r"^evt_[A-Za-z0-9_]+$", max_length=bounds.ID)]
FactId = Annotated[ids.FactId, Field(pattern=r"^rdg_[A-Za-z0-9_]{1,60}:(0|[1-9][0-9]{0,5})$")]

BoundedTenantId = Annotated[TenantId, Field(max_length=bounds.ID)]
BoundedCatalogId = Annotated[CatalogId, Field(max_length=bounds.ID)]
BoundedSourceId = Annotated[SourceId, Field(max_length=bounds.ID)]
BoundedCaptureId = Annotated[CaptureId, Field(max_length=bounds.ID)]
BoundedReceiptId = Annotated[ReceiptId, Field(max_length=bounds.ID)]
BoundedArtifactId = Annotated[ArtifactId, Field(max_length=bounds.ID)]
HistoryEpoch = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
EvidenceUri = Annotated[str, Field(pattern=r"^r2://evidence-private/ten_[a-z0-9_]{1,60}/[0-9a-f]{64}$")]
MediaType = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+(;[ -~]+)?$",
        max_length=bounds.MEDIA_TYPE,
    ),
]
Url = Annotated[str, Field(pattern=r"^https?://[^\x00-\x20]+$", max_length=bounds.URL)]
Adapter = Annotated[str, Field(pattern=r"^pa_[a-z0-9_]+@[0-9]+\.[0-9]+\.[0-9]+$")]
Profile = Annotated[str, Field(pattern=r"^np_[a-z0-9_]+@[0-9]+$")]
BoundedAdapter = Annotated[Adapter, Field(max_length=bounds.PIN)]
BoundedProfile = Annotated[Profile, Field(max_length=bounds.PIN)]

Number = Annotated[str, Field(pattern=decimals.PATTERN, max_length=bounds.DECIMAL)]
Price = Annotated[str, Field(pattern=decimals.POSITIVE_PATTERN, max_length=bounds.DECIMAL)]
Score = Annotated[str, Field(pattern=decimals.SCORE_PATTERN)]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
Code = Annotated[str, Field(min_length=1, max_length=bounds.CODE)]
ShortText = Annotated[str, Field(min_length=1, max_length=bounds.TEXT)]
Words = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=0)]
Revision = Annotated[int, Field(ge=1, le=bounds.POSITION)]
