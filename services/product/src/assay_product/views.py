"""⑧ the documents that the API answers with, made of rows: here offers are joined to items, when they are read."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Final, TypedDict

from assay_contracts.evidence import EvidenceRef
from assay_contracts.values import CodeValue, ListValue, OfferValue, TextValue, UrlValue, Value
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from assay_product.page_cursors import Live
from assay_product.store.queries import AttributeRead, CatalogRow, ItemRead, MappingRead, StatusRead, WaitingRead

_VALUE: Final[TypeAdapter[Value]] = TypeAdapter(Value)
_EVIDENCE: Final[TypeAdapter[tuple[EvidenceRef, ...]]] = TypeAdapter(tuple[EvidenceRef, ...])


class View(BaseModel):
    """A document of this API."""

    model_config = ConfigDict(frozen=True)


class Build(View):
    """Which build of which history an answer shows."""

    catalog_id: str
    history_epoch: str
    generation: int


class CatalogSummary(Build):
    """A catalog with the number of items that its lists show."""

    items: int


class Catalogs(View):
    """The tenant's catalogs."""

    catalogs: list[CatalogSummary]


class AttributeView(View):
    """An accepted value, who accepted it by which decision, and where it was read."""

    name: str
    line: str | None
    value: Value
    by: str
    revision: int
    decision_id: str
    occurred_at: datetime
    evidence: tuple[EvidenceRef, ...]


class ItemAttribute(Build):
    """One attribute of an item; of an attribute with lines, all of them."""

    item_id: str
    lines: list[AttributeView]


class ListingView(View):
    """A listing that is this item, why it is, and what it offers."""

    listing_id: str
    home_item_id: str
    source_id: str
    key: str
    serial: int
    url: str | None
    group_key: str | None
    via: str
    score: str | None
    revision: int
    decision_id: str
    occurred_at: datetime
    evidence: tuple[EvidenceRef, ...]
    offers: list[AttributeView]
    attributes: list[AttributeView]


class ItemView(Build):
    """An item with its accepted values and its listings."""

    item_id: str
    state: str
    because: str | None
    revision: int
    decision_id: str
    occurred_at: datetime
    attributes: list[AttributeView]
    listings: list[ListingView]


class OfferSummary(View):
    """An offer in a list of items."""

    source_id: str
    listing_id: str
    price: str | None
    price_high: str | None
    currency: str | None
    availability: str | None


class ItemSummary(View):
    """An item in a list."""

    item_id: str
    revision: int
    name: str | None
    brand: str | None
    mpn: str | None
    gtin: list[str]
    image: str | None
    listings: int
    offers: list[OfferSummary]


class ItemPage(Build):
    """A page of items; `next` is the `after` of the page behind it, null on the last."""

    items: list[ItemSummary]
    next: str | None


class Waiting(View):
    """A parked position; what it waits for is null where that is no event."""

    position: int
    reason: str
    waits_for: str | None
    waits_for_revision: int | None


class Status(Build):
    """How far the live generation has come: `missing` positions never came, `parked` ones wait, `halted` says why."""

    progress: int
    highest: int
    processed: int
    parked: int
    missing: Annotated[int, Field(ge=0)]
    halted: str | None
    moved_at: datetime
    parked_since: datetime | None
    waiting: list[Waiting]


def catalogs(rows: Iterable[CatalogRow]) -> Catalogs:
    """The list of catalogs."""
    return Catalogs(catalogs=[CatalogSummary(**_build(row.live), items=row.items) for row in rows])


def status(live: Live, row: StatusRead, waiting: Iterable[WaitingRead]) -> Status:
    """The state of a catalog's live generation."""
    return Status(
        **_build(live),
        progress=row.progress,
        highest=row.highest,
        processed=row.processed,
        parked=row.parked,
        missing=row.highest - row.processed - row.parked,
        halted=row.halted,
        moved_at=row.moved_at,
        parked_since=row.parked_since,
        waiting=[_waiting(one) for one in waiting],
    )


def item(live: Live, row: ItemRead, mappings: Sequence[MappingRead], attributes: Iterable[AttributeRead]) -> ItemView:
    """An item from its row, its listings' and all their attributes."""
    owned = _by_owner(attributes)
    return ItemView(
        **_build(live),
        item_id=row.item_id,
        state=row.state,
        because=row.because,
        revision=row.revision,
        decision_id=row.decision_id,
        occurred_at=row.occurred_at,
        attributes=owned[row.item_id],
        listings=[_listing(one, owned[one.listing_id]) for one in mappings],
    )


def page(
    live: Live,
    rows: Sequence[ItemRead],
    mappings: Sequence[MappingRead],
    attributes: Iterable[AttributeRead],
    following: str | None,
) -> ItemPage:
    """A page of items from all their rows."""
    owned = _by_owner(attributes)
    listings: dict[str, list[MappingRead]] = defaultdict(list)
    for mapping in mappings:
        listings[mapping.item_id].append(mapping)
    summaries = [_summary(row, owned, listings[row.item_id]) for row in rows]
    return ItemPage(**_build(live), items=summaries, next=following)


def attribute(live: Live, item_id: str, rows: Iterable[AttributeRead]) -> ItemAttribute:
    """One attribute of an item."""
    return ItemAttribute(**_build(live), item_id=item_id, lines=_by_owner(rows)[item_id])


def etag(live: Live, revision: int, shown: Iterable[tuple[str, int]] = ()) -> str:
    """Names an answer by epoch, generation and revision, and by (id, revision) of every other row that it shows.

    Rows that are cleared count too: what disappears from an answer changes its tag.
    """
    digest = hashlib.sha256("\n".join(f"{one} {number}" for one, number in sorted(shown)).encode()).hexdigest()[:16]
    return f'"{live.history_epoch}:{live.generation}:{revision}:{digest}"'


def item_etag(live: Live, row: ItemRead, mappings: Iterable[MappingRead], attributes: Iterable[AttributeRead]) -> str:
    """The tag of an item's answer."""
    shown = [(one.listing_id, one.revision) for one in mappings]
    return etag(live, row.revision, [*shown, *((one.attribute_id, one.revision) for one in attributes)])


class _BuildFields(TypedDict):
    catalog_id: str
    history_epoch: str
    generation: int


def _build(live: Live) -> _BuildFields:
    return {"catalog_id": live.catalog_id, "history_epoch": live.history_epoch, "generation": live.generation}


def _waiting(row: WaitingRead) -> Waiting:
    ref = f"{row.waits_for_type} {row.waits_for_id}" if row.waits_for_id else None
    return Waiting(position=row.position, reason=row.reason, waits_for=ref, waits_for_revision=row.waits_for_revision)


def _by_owner(rows: Iterable[AttributeRead]) -> dict[str, list[AttributeView]]:
    owned: dict[str, list[AttributeView]] = defaultdict(list)
    for row in rows:
        if row.value is not None and row.by is not None and row.evidence is not None:
            owned[row.owner_id].append(
                AttributeView(
                    name=row.name,
                    line=row.line or None,
                    value=_VALUE.validate_json(row.value),
                    by=row.by,
                    revision=row.revision,
                    decision_id=row.decision_id,
                    occurred_at=row.occurred_at,
                    evidence=_EVIDENCE.validate_json(row.evidence),
                )
            )
    return owned


def _listing(row: MappingRead, attributes: Sequence[AttributeView]) -> ListingView:
    return ListingView(
        listing_id=row.listing_id,
        home_item_id=row.home_item_id,
        source_id=row.source_id,
        key=row.listing_key,
        serial=row.serial,
        url=row.url,
        group_key=row.group_key,
        via=row.via,
        score=row.score,
        revision=row.revision,
        decision_id=row.decision_id,
        occurred_at=row.occurred_at,
        evidence=_EVIDENCE.validate_json(row.evidence),
        offers=[one for one in attributes if isinstance(one.value, OfferValue)],
        attributes=[one for one in attributes if not isinstance(one.value, OfferValue)],
    )


def _summary(row: ItemRead, owned: dict[str, list[AttributeView]], listings: Sequence[MappingRead]) -> ItemSummary:
    values = {one.name: _words(one.value) for one in owned[row.item_id]}
    return ItemSummary(
        item_id=row.item_id,
        revision=row.revision,
        name=_first(values, "name"),
        brand=_first(values, "brand"),
        mpn=_first(values, "mpn"),
        gtin=values.get("gtin", []),
        image=_first(values, "image"),
        listings=len(listings),
        offers=[offer for listing in listings for offer in _offers(listing, owned[listing.listing_id])],
    )


def _offers(listing: MappingRead, attributes: Iterable[AttributeView]) -> list[OfferSummary]:
    return [
        OfferSummary(
            source_id=listing.source_id,
            listing_id=listing.listing_id,
            price=one.value.price,
            price_high=one.value.price_high,
            currency=one.value.currency,
            availability=one.value.availability,
        )
        for one in attributes
        if isinstance(one.value, OfferValue)
    ]


def _words(value: Value) -> list[str]:
    match value:
        case TextValue(text=text):
            return [text]
        case CodeValue(code=code):
            return [code]
        case UrlValue(url=url):
            return [url]
        case ListValue(values=values):
            return [word for one in values for word in _words(one)]
        case _:
            return []


def _first(values: dict[str, list[str]], name: str) -> str | None:
    return next(iter(values.get(name, [])), None)
