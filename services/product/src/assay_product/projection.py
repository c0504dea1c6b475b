"""⑦ the fold: what the catalog says of one aggregate after an event. Every event states its aggregate's whole state."""

import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias, assert_never

from assay_contracts.events import (
    AggregateType,
    AttributeCleared,
    AttributeSet,
    CatalogEvent,
    EventData,
    ItemChanged,
    ItemCreated,
    ItemMerged,
    ItemRetired,
    MappingCleared,
    MappingSet,
)
from assay_contracts.evidence import EvidenceRef
from assay_contracts.timestamps import moment
from assay_contracts.values import CodeValue, ListValue, TextValue, Value
from pydantic import TypeAdapter

SEARCHED: Final = frozenset({"name", "brand", "mpn", "gtin", "sku"})
"""The attributes that people search by."""

_EVIDENCE: Final[TypeAdapter[tuple[EvidenceRef, ...]]] = TypeAdapter(tuple[EvidenceRef, ...])


class Ref(NamedTuple):
    """An aggregate of one catalog."""

    type: AggregateType
    id: str


@dataclass(frozen=True, slots=True)
class Stamp:
    """Which event a row shows."""

    revision: int
    position: int
    decision_id: str
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item; `because` is the reason of its last change of state, if one was given."""

    item_id: str
    stamp: Stamp
    state: str
    merged_into: str | None = None
    because: str | None = None


@dataclass(frozen=True, slots=True)
class MappingRow:
    """The item of a listing, or with `because` the reason why it has none. `evidence` is canonical JSON text."""

    listing_id: str
    stamp: Stamp
    item_id: str | None = None
    home_item_id: str | None = None
    source_id: str | None = None
    listing_key: str | None = None
    serial: int | None = None
    url: str | None = None
    group_key: str | None = None
    via: str | None = None
    score: str | None = None
    evidence: str | None = None
    because: str | None = None


@dataclass(frozen=True, slots=True)
class AttributeRow:
    """An accepted value, or with `because` the reason why there is none. `value` and `evidence` are JSON texts."""

    attribute_id: str
    owner_type: str
    owner_id: str
    name: str
    line: str
    stamp: Stamp
    value: str | None = None
    by: str | None = None
    evidence: str | None = None
    because: str | None = None
    search: str | None = None


Row: TypeAlias = ItemRow | MappingRow | AttributeRow


def aggregate(event: CatalogEvent) -> Ref:
    """What the event changed."""
    return Ref(event.aggregate.type, event.aggregate.id)


def fold(event: CatalogEvent, data: EventData) -> Row:
    """The aggregate's row after the event. The order of events is the caller's care; the row before plays no part."""
    stamp = Stamp(event.revision, event.position, event.decision_id, moment(event.occurred_at))
    subject = event.aggregate.id
    match data:
        case ItemCreated():
            return ItemRow(subject, stamp, "active")
        case ItemChanged(because=because):
            return ItemRow(subject, stamp, "active", because=because)
        case ItemMerged(into=into):
            return ItemRow(subject, stamp, "merged", merged_into=into)
        case ItemRetired(reason=reason):
            return ItemRow(subject, stamp, "retired", because=reason)
        case MappingSet():
            return _mapped(subject, data, stamp)
        case MappingCleared(reason=reason):
            return MappingRow(subject, stamp, because=reason)
        case AttributeSet():
            return _valued(subject, data, stamp)
        case AttributeCleared(owner=owner, name=name, line=line, reason=reason):
            return AttributeRow(subject, owner.type, owner.id, name, line or "", stamp, because=reason)
        case _:
            assert_never(data)


def _mapped(listing_id: str, data: MappingSet, stamp: Stamp) -> MappingRow:
    return MappingRow(
        listing_id=listing_id,
        stamp=stamp,
        item_id=data.item_id,
        home_item_id=data.home_item_id,
        source_id=data.source_id,
        listing_key=data.listing_key,
        serial=data.serial,
        url=data.url,
        group_key=data.group_key,
        via=data.via,
        score=data.score,
        evidence=_json(data.evidence),
    )


def _valued(attribute_id: str, data: AttributeSet, stamp: Stamp) -> AttributeRow:
    return AttributeRow(
        attribute_id=attribute_id,
        owner_type=data.owner.type,
        owner_id=data.owner.id,
        name=data.name,
        line=data.line or "",
        stamp=stamp,
        value=data.value.model_dump_json(),
        by=data.by,
        evidence=_json(data.evidence),
        search=searchable(data.value) if data.name in SEARCHED else None,
    )


def searchable(value: Value) -> str | None:
    """A value's words as a search meets them, one line per value of a list; None where it has no words."""
    match value:
        case TextValue(text=text):
            return folded(text)
        case CodeValue(code=code):
            return folded(code)
        case ListValue(values=values):
            return "\n".join(word for word in map(searchable, values) if word is not None) or None
        case _:
            return None


def folded(text: str) -> str:
    """Without case and without different spellings of one character."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _json(evidence: tuple[EvidenceRef, ...]) -> str:
    return _EVIDENCE.dump_json(evidence).decode()
