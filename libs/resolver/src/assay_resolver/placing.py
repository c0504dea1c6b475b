"""⑤ What a decision can do to items and to the mappings of listings: each act is events, rows and a part."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from assay_contracts.decimals import canonical_decimal
from assay_contracts.ids import new_id
from assay_runtime import sql

from assay_resolver import facts
from assay_resolver.decisions import Ending, Writer
from assay_resolver.errors import ItemFull
from assay_resolver.facts import ItemState
from assay_resolver.identity import Key, exact
from assay_resolver.outbox import Event, evidence_of
from assay_resolver.reading import Document, Fact, Listing, Reading

MAX_LISTINGS: Final = 1_000
"""Of one item."""

Via = Literal["gtin", "brand_mpn", "new", "person"]
ACTIVE: Final[Document] = {"state": "active"}

_ITEM = sql.load("assay_resolver", "item")


@dataclass(frozen=True, slots=True)
class Move:
    """A mapping that gets another root, or a home that it had: its event repeats that of `repeats`, a revision."""

    listing_id: str
    home: str
    revision: int
    repeats: int


async def create_item(writer: Writer, from_listing: Listing | None) -> str:
    """A new item, which the listing made."""
    item_id = new_id("item")
    source = from_listing.listing_id if from_listing else None
    await writer.change([Event("item.created", "item", item_id, 1, {"from_listing_id": source})])
    await writer.conn.execute(_ITEM["insert_item"], {**writer.scope, "item_id": item_id})
    writer.note("item", item_id, None, ACTIVE)
    writer.touch_item(item_id)
    return item_id


async def open_item(writer: Writer, item: ItemState, because: Literal["unmerged", "revived"]) -> None:
    """The item is a root and active again. Mappings below it move by `reroot`."""
    revision = item.revision + 1
    await writer.change([Event("item.changed", "item", item.item_id, revision, {"because": because})])
    row = {"item_id": item.item_id, "state": "active", "merged_into": None, "revision": revision}
    await writer.conn.execute(_ITEM["set_item"], {**writer.scope, **row})
    writer.note("item", item.item_id, item.document, ACTIVE)
    writer.touch_item(item.item_id)


def merge_item(writer: Writer, item: ItemState, into: ItemState) -> None:
    """In the end the item redirects to another. Its mappings move by `reroot`, its values rest."""
    on = (("item", into.item_id, into.revision),)
    event = Event("item.merged", "item", item.item_id, item.revision + 1, {"into": into.item_id}, on)
    writer.endings.append(Ending(item.item_id, "merged", event, into.item_id))
    writer.note("item", item.item_id, item.document, {"state": "merged", "into": into.item_id})
    writer.touch_item(into.root)


def retire_item(writer: Writer, item: ItemState, reason: str) -> None:
    """In the end the item is hidden; settling goes on."""
    event = Event("item.retired", "item", item.item_id, item.revision + 1, {"reason": reason})
    writer.endings.append(Ending(item.item_id, "retired", event))
    writer.note("item", item.item_id, item.document, {"state": "retired", "reason": reason})


async def map_listing(writer: Writer, listing: Listing, item_id: str, via: Via, score: Decimal | None = None) -> None:
    """Assert that the listing is the item, a root, taking it from the one that it was mapped to."""
    support = mapping_support(listing.reading, via)
    revision = listing.mapping_revision + 1
    item_revision = (await facts.item_revisions(writer.conn, writer.stream, [item_id]))[item_id][1]
    data = {
        "item_id": item_id,
        "home_item_id": item_id,
        "source_id": listing.source_id,
        "listing_key": listing.key,
        "serial": listing.serial,
        "url": listing.url,
        "group_key": listing.reading.group_key,
        "via": via,
        "score": None if score is None else canonical_decimal(score),
        "evidence": evidence_of(writer.stream.tenant_id, support),
    }
    event = Event(
        "mapping.set", "mapping", listing.listing_id, revision, data, (("item", item_id, item_revision),), support
    )
    await writer.change([event])
    await writer.conn.execute(_ITEM["upsert_mapping"], _mapping_row(writer, event))
    writer.note("mapping", listing.listing_id, mapping_of(listing), {"home": item_id, "revision": revision})
    writer.touch(listing, item_id)


async def clear_mapping(writer: Writer, listing: Listing, reason: Literal["rejected", "undone"]) -> None:
    """The listing is no item; its offers and what only it supported go with it."""
    if listing.item_id is None:
        return
    event = Event("mapping.cleared", "mapping", listing.listing_id, listing.mapping_revision + 1, {"reason": reason})
    await writer.change([event])
    await writer.conn.execute(_ITEM["upsert_mapping"], _mapping_row(writer, event))
    writer.note("mapping", listing.listing_id, mapping_of(listing), None)
    writer.touch(listing)


async def restore_mapping(writer: Writer, listing: Listing, home: str, repeats: int) -> None:
    """Assert again the home that the listing had at a revision of its mapping."""
    await _move(writer, [Move(listing.listing_id, home, listing.mapping_revision + 1, repeats)])
    after = {"home": home, "revision": listing.mapping_revision + 1}
    writer.note("mapping", listing.listing_id, mapping_of(listing), after)
    writer.touch(listing)


async def reroot(writer: Writer, roots: Iterable[str]) -> list[str]:
    """Move the mappings of these items to where their homes lead now; the listings that moved."""
    rows = await facts.mappings_of_items(writer.conn, writer.stream, roots)
    leads = await facts.roots_of_items(writer.conn, writer.stream, {row.home for row in rows}, writer.merging)
    moves = [
        Move(row.listing_id, row.home, row.revision + 1, row.revision) for row in rows if leads[row.home] != row.item_id
    ]
    await _move(writer, moves)
    writer.touched.items.update(row.item_id for row in rows)
    return [one.listing_id for one in moves]


async def _move(writer: Writer, moves: Sequence[Move]) -> None:
    conn, stream = writer.conn, writer.stream
    if not moves:
        return
    leads = await facts.roots_of_items(conn, stream, {one.home for one in moves}, writer.merging)
    revisions = await facts.item_revisions(conn, stream, set(leads.values()))
    told = await facts.mappings_told(conn, stream, {one.listing_id: one.repeats for one in moves})
    events = [_moved(one, leads[one.home], revisions, told) for one in moves]
    await writer.change(events)
    async with conn.cursor() as many:
        await many.executemany(_ITEM["upsert_mapping"], [_mapping_row(writer, event) for event in events])
    writer.touched.moved.update(one.listing_id for one in moves)
    writer.touched.items.update(leads[one.home] for one in moves)
    await check_room(writer, set(leads.values()))


def _moved(
    move: Move, root: str, revisions: Mapping[str, tuple[str, int]], told: Mapping[str, facts.MappingTold]
) -> Event:
    before = told[move.listing_id]
    data = {**before.data, "item_id": root, "home_item_id": move.home}
    on = (("item", root, revisions[root][1]),)
    return Event("mapping.set", "mapping", move.listing_id, move.revision, data, on, kept_support=tuple(before.support))


async def check_room(writer: Writer, items: Iterable[str]) -> None:
    """ItemFull if one of the items has more listings than an item may have."""
    if await facts.items_with_more_listings(writer.conn, writer.stream, items, MAX_LISTINGS):
        raise ItemFull


async def derive_keys(writer: Writer, keys: Iterable[Key]) -> None:
    """Let exact keys lead where the mapped listings that state them are."""
    columns = {**writer.scope, **facts.columns(exact(keys))}
    async with writer.conn.pipeline():
        await writer.conn.execute(_ITEM["drop_item_keys"], columns)
        await writer.conn.execute(_ITEM["derive_item_keys"], columns)


def mapping_of(listing: Listing) -> Document | None:
    """A listing's mapping as a part keeps it."""
    if listing.home_item_id is None:
        return None
    return {"home": listing.home_item_id, "revision": listing.mapping_revision}


def mapping_support(reading: Reading, via: Via) -> tuple[Fact, ...]:
    """The facts that a mapping rests on: those of the deciding key, else what names the thing."""
    names = {"gtin": ("gtin",), "brand_mpn": ("brand", "mpn")}.get(via, ("name", "gtin", "sku", "url"))
    named = tuple(fact for name in names if (fact := reading.first(name)) is not None)
    return named or reading.facts[:1]


def _mapping_row(writer: Writer, event: Event) -> dict[str, object]:
    names = ("home_item_id", "item_id", "via", "score")
    asserted = {name: event.data.get(name) for name in names}
    return {**writer.scope, "listing_id": event.id, "revision": event.revision, **asserted}
