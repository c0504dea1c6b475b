"""⑤ Writes what settling wants: a revision and an event for every value whose result differs from the accepted one."""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass

from assay_contracts.ids import attribute_id

from assay_resolver import facts
from assay_resolver.facts import Accepted
from assay_resolver.outbox import Event, evidence_of
from assay_resolver.reading import Listing, document_of
from assay_resolver.settle import Slot, Wanted, same_result, settle_item, settle_listing
from assay_resolver.streams import Connection, Stream

Owner = tuple[str, str]
"""(item or listing, id)."""
On = tuple[str, str, int]
"""The revision of the item or mapping that an owner's values depend on."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What is to be settled, of which stream.

    merging: items about to be merged, with what each goes into: those keep their values as they are.
    guarded: by (item, name) an accepted value to hold on to.
    """

    conn: Connection
    stream: Stream
    items: Set[str]
    listings: Set[str]
    merging: Mapping[str, str]
    guarded: Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class Settled:
    """One value that comes out otherwise: its event, and its row."""

    event: Event
    row: Mapping[str, object]


async def settle(scene: Scene) -> list[Settled]:
    """How the accepted values have to change so that they are what is asserted now."""
    conn, stream = scene.conn, scene.stream
    items = scene.items - scene.merging.keys()
    grouped, touched = await _members(scene, items)
    pinned = await facts.pins(conn, stream, items, scene.merging)
    rows = await facts.accepted(conn, stream, [*items, *touched])
    wanted: dict[Owner, dict[Slot, Wanted]] = {}
    for item, listings in grouped.items():
        held = {name: value for (owner, name), value in scene.guarded.items() if owner == item}
        wanted["item", item] = settle_item(listings, pinned[item], _values(rows, item) | held)
    wanted |= {("listing", one.listing_id): settle_listing(one) for one in touched.values()}
    current = {_place_of(row): row for row in rows}
    depends = await _dependencies(scene, items, touched)
    return [*_set(stream, wanted, current, depends), *_cleared(stream, wanted, current, touched)]


async def _members(scene: Scene, items: Set[str]) -> tuple[dict[str, list[Listing]], dict[str, Listing]]:
    """The listings of the items, and the touched ones."""
    wanted = set(await facts.listing_ids_of_items(scene.conn, scene.stream, items)) | scene.listings
    found = await facts.listings(scene.conn, scene.stream, wanted)
    grouped: dict[str, list[Listing]] = {item: [] for item in sorted(items)}
    for listing in found.values():
        if listing.item_id in grouped:
            grouped[listing.item_id].append(listing)
    return grouped, {one: found[one] for one in sorted(scene.listings)}


async def _dependencies(scene: Scene, items: Set[str], touched: Mapping[str, Listing]) -> dict[Owner, On]:
    revisions = await facts.item_revisions(scene.conn, scene.stream, items)
    found: dict[Owner, On] = {("item", item): ("item", item, revision) for item, (_, revision) in revisions.items()}
    for one in touched.values():
        found["listing", one.listing_id] = ("mapping", one.listing_id, one.mapping_revision)
    return found


def _set(
    stream: Stream,
    wanted: Mapping[Owner, Mapping[Slot, Wanted]],
    current: Mapping[tuple[str, str, Slot], Accepted],
    depends: Mapping[Owner, On],
) -> Iterator[Settled]:
    for owner, slots in sorted(wanted.items()):
        for slot, value in sorted(slots.items()):
            before = current.get((*owner, slot))
            if not same_result(_standing(before), value):
                event = _set_event(stream, owner, slot, value, before, depends[owner])
                yield Settled(event, _row(stream, owner, slot, event.revision, value))


def _cleared(
    stream: Stream,
    wanted: Mapping[Owner, Mapping[Slot, Wanted]],
    current: Mapping[tuple[str, str, Slot], Accepted],
    touched: Mapping[str, Listing],
) -> Iterator[Settled]:
    for (kind, owner_id, slot), before in sorted(current.items(), key=lambda entry: entry[0]):
        owner = (kind, owner_id)
        if before.value is not None and slot not in wanted.get(owner, {}):
            event = _cleared_event(owner, slot, before, _cleared_reason(before, touched.get(owner_id)))
            yield Settled(event, _row(stream, owner, slot, event.revision, None))


def _set_event(stream: Stream, owner: Owner, slot: Slot, value: Wanted, before: Accepted | None, on: On) -> Event:
    data = {
        "owner": {"type": owner[0], "id": owner[1]},
        "name": slot[0],
        "line": slot[1] or None,
        "value": document_of(value.value),
        "by": value.by,
        "evidence": evidence_of(stream.tenant_id, value.support),
    }
    revision = 1 if before is None else before.revision + 1
    return Event("attribute.set", "attribute", attribute_id(owner[1], *slot), revision, data, (on,), value.support)


def _cleared_event(owner: Owner, slot: Slot, before: Accepted, reason: str) -> Event:
    data = {"owner": {"type": owner[0], "id": owner[1]}, "name": slot[0], "line": slot[1] or None, "reason": reason}
    return Event("attribute.cleared", "attribute", attribute_id(owner[1], *slot), before.revision + 1, data)


def _row(stream: Stream, owner: Owner, slot: Slot, revision: int, value: Wanted | None) -> dict[str, object]:
    return {
        **stream.scope,
        "owner_type": owner[0],
        "owner_id": owner[1],
        "name": slot[0],
        "line": slot[1],
        "attribute_id": attribute_id(owner[1], *slot),
        "value": value.value if value else None,
        "by": value.by if value else None,
        "revision": revision,
    }


def _standing(before: Accepted | None) -> tuple[str, str] | None:
    return None if before is None or before.value is None or before.by is None else (before.value, before.by)


def _values(rows: Iterable[Accepted], owner: str) -> dict[str, str]:
    return {row.name: row.value for row in rows if row.owner_id == owner and row.value is not None}


def _place_of(row: Accepted) -> tuple[str, str, Slot]:
    return (row.owner_type, row.owner_id, (row.name, row.line))


def _cleared_reason(before: Accepted, listing: Listing | None) -> str:
    if listing is None:
        return "person" if before.by == "person" else "unsupported"
    if listing.item_id is None:
        return "unmapped"
    return {"gone": "gone", "replaced": "replaced"}.get(listing.state, "unsupported")
