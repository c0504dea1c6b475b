"""Reads what a decision rests on: readings with their facts, listings with their items, pins and accepted values."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from assay_contracts.bounds import EVENT_RAW
from assay_runtime import sql

from assay_resolver import identity
from assay_resolver.identity import Candidate, Key
from assay_resolver.reading import Document, Evidence, Fact, Listing, Reading, document_of
from assay_resolver.streams import Connection, Stream

_READING = sql.load("assay_resolver", "reading")
_LISTING = sql.load("assay_resolver", "listing")
_ITEM = sql.load("assay_resolver", "item")
_VERDICT = sql.load("assay_resolver", "verdict")


@dataclass(frozen=True, slots=True)
class Accepted:
    """An attribute row: value and by are None where it was cleared."""

    owner_type: str
    owner_id: str
    name: str
    line: str
    value: str | None
    by: str | None
    revision: int


@dataclass(frozen=True, slots=True)
class ItemState:
    """An item as it stands: what its last change said, by which decision, and the root that it leads to."""

    item_id: str
    state: str
    merged_into: str | None
    revision: int
    told: Document
    decision_id: str
    root: str

    @property
    def document(self) -> Document:
        """The state as a part keeps it."""
        if self.state == "merged":
            return {"state": "merged", "into": self.merged_into}
        if self.state == "retired":
            return {"state": "retired", "reason": self.told["reason"]}
        return {"state": "active"}


class MappingRow(NamedTuple):
    """A mapping that stands."""

    listing_id: str
    home: str
    item_id: str
    revision: int


@dataclass(frozen=True, slots=True)
class MappingTold:
    """What a revision of a mapping said, and the facts (reading, n) that it rested on."""

    data: Document
    support: list[tuple[str, int]]


async def readings_of_capture(conn: Connection, stream: Stream, capture_id: str, attempt_group: int) -> list[Reading]:
    """What normalize read in a capture, in the order of its nodes."""
    rows = await conn.execute(
        _READING["readings_of_capture"],
        {**stream.scope, "capture_id": capture_id, "attempt_group": attempt_group},
    )
    ids = [row[0] for row in await rows.fetchall()]
    found = await readings(conn, stream, ids)
    return [found[reading_id] for reading_id in ids]


async def readings(conn: Connection, stream: Stream, ids: Collection[str]) -> dict[str, Reading]:
    """Readings by id, each with those of its facts that have a value."""
    parameters = {**stream.scope, "readings": list(ids)}
    async with conn.pipeline():
        found = await conn.execute(_READING["find_readings"], parameters)
        stated = await conn.execute(_READING["find_facts"], parameters)
    heads, rows = await found.fetchall(), await stated.fetchall()
    by_reading: dict[str, list[tuple[object, ...]]] = {}
    for row in rows:
        by_reading.setdefault(row[0], []).append(row)
    return {head[0]: _reading(head, by_reading.get(head[0], [])) for head in heads}


def _reading(head: tuple[object, ...], rows: Iterable[tuple[object, ...]]) -> Reading:
    fields = dict(
        zip(
            ("reading_id", "capture_id", "source_id", "key", "group_key", "url", "digest", "observed_at", "received_at",
             "receipt_id", "attempt_group"),
            head,
            strict=False,
        )
    )  # fmt: skip
    return Reading(**fields, facts=tuple(_fact(head, row) for row in rows))  # pyright: ignore[reportArgumentType]


def _fact(head: tuple[object, ...], row: tuple[object, ...]) -> Fact:
    reading_id, n, name, line, value, sha256, media_type, syntax, place, raw, adapter = map(str, row)
    evidence = Evidence(
        receipt_id=str(head[9]),
        capture_id=str(head[1]),
        source_id=str(head[2]),
        sha256=sha256,
        media_type=media_type,
        place_syntax=syntax,
        place=place,
        raw=raw[:EVENT_RAW],
        adapter=adapter,
        profile=str(head[11]),
    )
    return Fact(reading_id, int(n), name, line, value, evidence)


async def listings(conn: Connection, stream: Stream, ids: Collection[str]) -> dict[str, Listing]:
    """Listings by id, each with its current reading as it is heard, and its item."""
    rows = await (await conn.execute(_LISTING["find_listings"], {**stream.scope, "listings": list(ids)})).fetchall()
    speaking = await readings(conn, stream, {row[7] for row in rows})
    found: dict[str, Listing] = {}
    for row in rows:
        wrong = [Key.named(name) for name in row[11]]
        reading = identity.heard(speaking[row[7]], wrong)
        found[row[0]] = Listing(
            *row[:7],
            reading=reading,
            item_id=row[8],
            home_item_id=row[9],
            mapping_revision=row[10],
            wrong=tuple(row[11]),
            silent_look=None if row[12] is None else row[12:16],
        )
    return found


async def listing_ids_of_items(conn: Connection, stream: Stream, items: Collection[str]) -> list[str]:
    """The listings mapped to some items."""
    rows = await conn.execute(_LISTING["listings_of_items"], {**stream.scope, "items": list(items)})
    return [row[0] for row in await rows.fetchall()]


async def accepted(conn: Connection, stream: Stream, owners: Collection[str]) -> list[Accepted]:
    """Every attribute row of some items and listings, tombstones included."""
    rows = await conn.execute(_ITEM["find_attributes"], {**stream.scope, "owners": list(owners)})
    return [Accepted(*row) for row in await rows.fetchall()]


async def pins(
    conn: Connection, stream: Stream, items: Collection[str], merging: Mapping[str, str]
) -> dict[str, dict[str, Fact]]:
    """The pin of each attribute of some items that counts, as the fact of the person's statement.

    An item's own counts first, then the latest of those below it; merging: items that are about to be below another.
    """
    tops = {one: _final(one, merging) for one in (*items, *merging)}
    asked = [one for one, top in tops.items() if top in items]
    rows = await (await conn.execute(_ITEM["standing_pins"], {**stream.scope, "items": asked})).fetchall()
    stated = await readings(conn, stream, {row[3] for row in rows}) if rows else {}
    pinned: dict[str, dict[str, Fact]] = {item: {} for item in items}
    for top, _, name, reading_id, n in sorted(rows, key=lambda row: row[1] == tops[row[0]]):
        pinned[tops[top]][name] = next(fact for fact in stated[reading_id].facts if fact.n == n)
    return pinned


def _final(item: str, merging: Mapping[str, str]) -> str:
    while item in merging:
        item = merging[item]
    return item


async def item_revisions(conn: Connection, stream: Stream, items: Collection[str]) -> dict[str, tuple[str, int]]:
    """(state, revision) of those items that exist."""
    rows = await conn.execute(_ITEM["find_items"], {**stream.scope, "items": list(items)})
    return {row[0]: (row[1], row[2]) for row in await rows.fetchall()}


async def item_states(conn: Connection, stream: Stream, items: Collection[str]) -> dict[str, ItemState]:
    """Those items that exist, as they stand."""
    rows = await conn.execute(_ITEM["find_item_states"], {**stream.scope, "items": list(items)})
    leads = await roots_of_items(conn, stream, items, {})
    return {
        row[0]: ItemState(row[0], row[1], row[2], row[3], document_of(row[4]), row[5], leads[row[0]])
        for row in await rows.fetchall()
    }


async def roots_of_items(
    conn: Connection, stream: Stream, items: Collection[str], merging: Mapping[str, str]
) -> dict[str, str]:
    """Where items lead in the end, those that are about to be merged too."""
    asked = {*items, *merging.values()}
    rows = await conn.execute(_ITEM["roots_of_items"], {**stream.scope, "items": list(asked)})
    leads: dict[str, str] = dict(await rows.fetchall())
    onward = {item: leads[into] for item, into in merging.items()}
    return {item: _final(leads[item], onward) for item in items if item in leads}


async def mappings_of_items(conn: Connection, stream: Stream, items: Iterable[str]) -> list[MappingRow]:
    """What is mapped to some items, ordered by listing."""
    rows = await conn.execute(_ITEM["mappings_of_items"], {**stream.scope, "items": list(items)})
    return [MappingRow(*row) for row in await rows.fetchall()]


async def mappings_told(conn: Connection, stream: Stream, revisions: Mapping[str, int]) -> dict[str, MappingTold]:
    """What a revision of each of some mappings said, by listing."""
    columns = {"listings": list(revisions), "revisions": list(revisions.values())}
    rows = await conn.execute(_ITEM["mappings_told"], {**stream.scope, **columns})
    told: dict[str, MappingTold] = {}
    for listing_id, data, reading_id, n in await rows.fetchall():
        told.setdefault(listing_id, MappingTold(document_of(data), [])).support.append((reading_id, n))
    return told


async def items_with_more_listings(conn: Connection, stream: Stream, items: Iterable[str], most: int) -> list[str]:
    """Those of some items that have more listings than `most`."""
    parameters = {**stream.scope, "items": list(items), "most": most}
    return [row[0] for row in await (await conn.execute(_ITEM["items_with_more_listings"], parameters)).fetchall()]


async def roots(conn: Connection, stream: Stream, keys: Iterable[Key]) -> dict[Key, str | None]:
    """Where exact keys lead: an item, or None where several share the key. Unknown keys are absent."""
    rows = await conn.execute(_ITEM["roots_of_keys"], {**stream.scope, **columns(keys)})
    return {Key(row[0], row[1]): row[2] for row in await rows.fetchall()}


async def listing_keys(conn: Connection, stream: Stream, listing_id: str) -> frozenset[Key]:
    """The keys by which a listing is found."""
    rows = await conn.execute(_LISTING["keys_of_listing"], {**stream.scope, "listing_id": listing_id})
    return frozenset(Key(row[0], row[1]) for row in await rows.fetchall())


async def exact_keys_of_listings(conn: Connection, stream: Stream, listing_ids: Collection[str]) -> frozenset[Key]:
    """The keys that decide, of some listings."""
    parameters = {**stream.scope, "listings": list(listing_ids), "exact": list(identity.EXACT)}
    rows = await conn.execute(_LISTING["exact_keys_of_listings"], parameters)
    return frozenset(Key(row[0], row[1]) for row in await rows.fetchall())


async def items_in_blocks(conn: Connection, stream: Stream, keys: Iterable[Key]) -> list[str]:
    """Items that share any telling key, at most identity.MAX_CANDIDATES."""
    limits = {"most": identity.MAX_BLOCK, "limit": identity.MAX_CANDIDATES}
    rows = await conn.execute(_LISTING["items_in_blocks"], {**stream.scope, **columns(keys), **limits})
    return [row[0] for row in await rows.fetchall()]


async def candidates(conn: Connection, stream: Stream, items: Collection[str], listing_id: str) -> dict[str, Candidate]:
    """Items as the identity rule sees them, against one listing."""
    parameters = {**stream.scope, "items": list(items), "exact": list(identity.EXACT), "listing_id": listing_id}
    states = await item_revisions(conn, stream, items)
    keys: dict[str, set[Key]] = {item: set() for item in items}
    for item_id, kind, value in await (await conn.execute(_LISTING["keys_of_items"], parameters)).fetchall():
        keys[item_id].add(Key(kind, value))
    differing = {row[0] for row in await (await conn.execute(_VERDICT["items_differing_from"], parameters)).fetchall()}
    texts: Mapping[tuple[str, str], str] = {
        (row.owner_id, row.name): str(document_of(row.value).get("text", ""))
        for row in await accepted(conn, stream, items)
        if row.value is not None and row.name in ("name", "brand")
    }
    return {
        item: Candidate(
            item_id=item,
            active=states[item][0] == "active",
            name=texts.get((item, "name"), ""),
            brand=texts.get((item, "brand"), ""),
            keys=frozenset(keys[item]),
            verdict=item in differing,
        )
        for item in states
    }


def columns(keys: Iterable[Key]) -> dict[str, list[str]]:
    """Keys as two arrays for unnest."""
    ordered = sorted(set(keys))
    return {"kinds": [key.kind for key in ordered], "values": [key.value for key in ordered]}
