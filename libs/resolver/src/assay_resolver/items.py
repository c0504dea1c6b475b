"""⑤ What people decide about items: two are one, one is two, one is to be hidden or shown again."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal

from assay_resolver import decision_view, facts, placing, rules, speaking, streams, verdicts
from assay_resolver.decisions import Asked, Decided, Request, Writer, first_result
from assay_resolver.errors import AlreadySo, Changed, NotInItem, UnknownItem
from assay_resolver.facts import ItemState
from assay_resolver.placing import derive_keys
from assay_resolver.streams import Connection, Cursor

Reason = Literal["not_a_product", "discontinued", "other"]
REASONS: Final[Sequence[Reason]] = ("not_a_product", "discontinued", "other")


async def merge(conn: Connection, asked: Asked, revisions: Mapping[str, int], item_id: str, into: str) -> Decided:
    """The item is the other one: its listings move there, its id redirects for ever.

    revisions: of both items, as they were looked at. AlreadySo if both lead to one item.
    """
    deciding = asked.deciding("person.merge", {"item": item_id, "into": into, "revisions": dict(revisions)})
    begun = await _begin(conn, asked, deciding, revisions)
    if isinstance(begun, Decided):
        return begun
    cursor, states = begun
    if states[item_id].root == states[into].root:
        raise AlreadySo
    _check_roots(states, (item_id, into))
    if states[into].state != "active":
        raise UnknownItem
    one, other = [await verdicts.tree(conn, asked.stream, item) for item in (item_id, into)]
    standing = await verdicts.between(conn, asked.stream, one, other)
    verdicts.check_overruled(standing, asked.overrules)
    writer = await _writer(conn, cursor, deciding, states)
    for verdict in standing:
        await verdicts.withdraw(writer, *verdict.pair)
    placing.merge_item(writer, states[item_id], states[into])
    moved = await placing.reroot(writer, [item_id])
    keys = await facts.exact_keys_of_listings(conn, asked.stream, moved)
    await derive_keys(writer, keys)
    await rules.rerun(writer, keys)
    return await writer.finish()


async def split(
    conn: Connection, asked: Asked, revisions: Mapping[str, int], item_id: str, listings: Collection[str]
) -> Decided:
    """Some of the item's listings are another thing: a new item, and a verdict that keeps the two apart.

    NotInItem unless the listings are some, and not all, of the item's own.
    """
    chosen = sorted(set(listings))
    basis = {"item": item_id, "listings": chosen, "revisions": dict(revisions)}
    deciding = asked.deciding("person.split", basis)
    begun = await _begin(conn, asked, deciding, revisions)
    if isinstance(begun, Decided):
        return begun
    cursor, states = begun
    _check_roots(states, (item_id,))
    own = {row.listing_id for row in await facts.mappings_of_items(conn, asked.stream, [item_id])}
    if not chosen or not set(chosen) < own:
        raise NotInItem
    held = await speaking.lock(conn, asked.stream, chosen)
    writer = await _writer(conn, cursor, deciding, states)
    new_id = await placing.create_item(writer, held[chosen[0]])
    for listing_id in chosen:
        await placing.map_listing(writer, held[listing_id], new_id, "person")
    await verdicts.differ(writer, item_id, new_id)
    await derive_keys(writer, await facts.exact_keys_of_listings(conn, asked.stream, chosen))
    return await writer.finish()


async def retire(conn: Connection, asked: Asked, revisions: Mapping[str, int], item_id: str, reason: Reason) -> Decided:
    """Hide the item; its listings stay, and settling goes on. AlreadySo if it is hidden."""
    basis = {"item": item_id, "reason": reason, "revisions": dict(revisions)}
    deciding = asked.deciding("person.retire", basis)
    begun = await _begin(conn, asked, deciding, revisions)
    if isinstance(begun, Decided):
        return begun
    cursor, states = begun
    _check_roots(states, (item_id,))
    if states[item_id].state == "retired":
        raise AlreadySo
    writer = await _writer(conn, cursor, deciding, states)
    placing.retire_item(writer, states[item_id], reason)
    return await writer.finish()


async def revive(conn: Connection, asked: Asked, revisions: Mapping[str, int], item_id: str) -> Decided:
    """Show a hidden item again; listings that waited with its keys find it. AlreadySo if it is shown."""
    deciding = asked.deciding("person.revive", {"item": item_id, "revisions": dict(revisions)})
    begun = await _begin(conn, asked, deciding, revisions)
    if isinstance(begun, Decided):
        return begun
    cursor, states = begun
    _check_roots(states, (item_id,))
    if states[item_id].state == "active":
        raise AlreadySo
    writer = await _writer(conn, cursor, deciding, states)
    await placing.open_item(writer, states[item_id], "revived")
    own = [row.listing_id for row in await facts.mappings_of_items(conn, asked.stream, [item_id])]
    await rules.rerun(writer, await facts.exact_keys_of_listings(conn, asked.stream, own))
    return await writer.finish()


async def _begin(
    conn: Connection, asked: Asked, deciding: Request, revisions: Mapping[str, int]
) -> tuple[Cursor, dict[str, ItemState]] | Decided:
    """Hold the cursor; the first result, or the items at the revisions that were looked at. Changed, UnknownItem."""
    cursor = await streams.lock(conn, asked.stream)
    first = await first_result(conn, asked.stream, deciding)
    if first is not None:
        return first
    states = await facts.item_states(conn, asked.stream, revisions)
    if states.keys() != revisions.keys():
        raise UnknownItem
    if any(states[item].revision != seen for item, seen in revisions.items()):
        raise Changed(await decision_view.items_since(conn, asked.stream, states.values(), revisions))
    return cursor, states


def _check_roots(states: Mapping[str, ItemState], items: Collection[str]) -> None:
    """UnknownItem if one of them is another item by now."""
    if any(states[item].state == "merged" for item in items):
        raise UnknownItem


async def _writer(conn: Connection, cursor: Cursor, deciding: Request, states: Mapping[str, ItemState]) -> Writer:
    prior = tuple(sorted({one.decision_id for one in states.values()}))
    writer = Writer(conn, cursor, deciding.following(prior))
    await writer.begin(())
    return writer
