"""The catalog event: what one decision changed in one aggregate, as relay publishes it and product applies it."""

import re
from collections.abc import Mapping
from typing import Annotated, Final, Generic, Literal, Self, TypeVar

from pydantic import Field, ValidationInfo, field_validator, model_validator

from assay_contracts import bounds, fields
from assay_contracts.evidence import EvidenceRef
from assay_contracts.fields import Message, Optional, Tuple
from assay_contracts.values import TextValue, Value

AggregateType = Literal["item", "mapping", "attribute"]
EventType = Literal[
    "item.created",
    "item.changed",
    "item.merged",
    "item.retired",
    "mapping.set",
    "mapping.cleared",
    "attribute.set",
    "attribute.cleared",
]
Via = Literal["gtin", "brand_mpn", "source_sku", "page", "model", "new", "person"]
Evidence = Annotated[Tuple[EvidenceRef], Field(min_length=1, max_length=bounds.EVIDENCE)]
AttributeName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Line = Annotated[str, Field(min_length=1, max_length=bounds.LINE)]
_ID_SHAPES: Final[Mapping[str, re.Pattern[str]]] = {
    "item": re.compile(r"item_[A-Za-z0-9_]{1,59}"),
    "listing": re.compile(r"lst_[A-Za-z0-9_]{1,60}"),
    "mapping": re.compile(r"lst_[A-Za-z0-9_]{1,60}"),
    "attribute": re.compile(r"(item|lst)_[A-Za-z0-9_]{1,60}/[a-z][a-z0-9_]{0,63}(/[0-9a-f]{16})?"),
}


_Type = TypeVar("_Type", bound=str)


class Typed(Message, Generic[_Type]):
    """A thing that is named by its type and an id of that type."""

    type: _Type
    id: str

    @model_validator(mode="after")
    def _check_id(self) -> Self:
        if not _ID_SHAPES[self.type].fullmatch(self.id):
            raise ValueError("the id is not one of its type")
        return self


class Owner(Typed[Literal["item", "listing"]]):
    """Whose attribute it is: an item's, or a listing's (offers)."""


class ItemCreated(Message):
    """A new item, and the listing that made it, if one did."""

    from_listing_id: fields.ListingId | None


class ItemChanged(Message):
    """An item that is a root or active again."""

    because: Literal["unmerged", "revived"]


class ItemMerged(Message):
    """An item that from now on redirects to another."""

    into: fields.ItemId


class ItemRetired(Message):
    """An item that is hidden."""

    reason: Literal["not_a_product", "discontinued", "undone", "other"]


class MappingSet(Message):
    """The item that a listing is: asserted as home, and its root."""

    item_id: fields.ItemId
    home_item_id: fields.ItemId
    source_id: fields.BoundedSourceId
    listing_key: Annotated[str, Field(min_length=1, max_length=bounds.LISTING_KEY)]
    serial: Annotated[int, Field(ge=1, le=bounds.COUNT)]
    url: fields.Url | None
    group_key: Annotated[str, Field(min_length=1, max_length=bounds.LISTING_KEY)] | None
    via: Via
    score: fields.Score | None
    evidence: Evidence


class MappingCleared(Message):
    """A listing that is no item."""

    reason: Literal["rejected", "undone"]


class AttributeSet(Message):
    """The accepted value of an attribute, and what supports it."""

    owner: Owner
    name: AttributeName
    line: Line | None
    value: Value
    by: Literal["rule", "person"]
    evidence: Evidence

    @model_validator(mode="after")
    def _check_text(self) -> Self:
        long = isinstance(self.value, TextValue) and len(self.value.text) > bounds.TEXT
        if long and self.name != "description":
            raise ValueError("only a description may be that long")
        return self


class AttributeCleared(Message):
    """An attribute without an accepted value."""

    owner: Owner
    name: AttributeName
    line: Line | None
    reason: Literal["unsupported", "gone", "replaced", "unmapped", "person"]


EventData = (
    ItemCreated | ItemChanged | ItemMerged | ItemRetired | MappingSet | MappingCleared | AttributeSet | AttributeCleared
)

DATA_MODELS: Final[Mapping[EventType, type[EventData]]] = {
    "item.created": ItemCreated,
    "item.changed": ItemChanged,
    "item.merged": ItemMerged,
    "item.retired": ItemRetired,
    "mapping.set": MappingSet,
    "mapping.cleared": MappingCleared,
    "attribute.set": AttributeSet,
    "attribute.cleared": AttributeCleared,
}


class Aggregate(Typed[AggregateType]):
    """What the event changed: an item, a listing's mapping, or an attribute."""


class Dependency(Typed[AggregateType]):
    """A revision of another aggregate that must be applied first."""

    revision: fields.Revision


class CatalogEvent(Message):
    """An event at `position` of the stream (tenant, catalog, history epoch); it holds `data`, or a `ref` to it."""

    event_id: fields.EventId
    tenant_id: fields.BoundedTenantId
    catalog_id: fields.BoundedCatalogId
    history_epoch: fields.HistoryEpoch
    position: fields.Revision
    aggregate: Aggregate
    revision: fields.Revision
    dependencies: Annotated[Tuple[Dependency], Field(max_length=bounds.DEPENDENCIES)]
    type: EventType
    decision_id: fields.DecisionId
    occurred_at: fields.Timestamp
    data: Optional[EventData] = None
    ref: Optional[fields.EvidenceUri] = None

    @field_validator("data", mode="before")
    @classmethod
    def _read_data(cls, value: object, info: ValidationInfo) -> object:
        kind: EventType | None = info.data.get("type")
        if value is None or kind is None:
            return value
        return DATA_MODELS[kind].model_validate(value, context=info.context)

    @model_validator(mode="after")
    def _check_shape(self) -> Self:
        if (self.data is None) == (self.ref is None):
            raise ValueError("an event holds its data or a ref to it")
        if self.aggregate.type != self.type.split(".")[0]:
            raise ValueError("the aggregate is of another type")
        return self
