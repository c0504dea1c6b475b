"""⑤ What people decide about listings: this one is that item, this one is not, these two differ, its key is wrong."""

from collections.abc import Collection

from assay_resolver import decision_view, facts, placing, questions, rules, speaking, streams, verdicts
from assay_resolver.decisions import Asked, Decided, Request, Writer, first_result
from assay_resolver.errors import AlreadySo, Changed, UnknownItem, UnknownListing, WrongKey
from assay_resolver.identity import Doubt, Key, exact, keys_of
from assay_resolver.placing import derive_keys
from assay_resolver.reading import Listing
from assay_resolver.streams import Connection, Cursor, Stream


async def set_mapping(conn: Connection, asked: Asked, seen: int, listing_id: str, item_id: str) -> Decided:
    """The listing is this item, a root that is shown. seen: the mapping's revision, 0 before the first."""
    basis = {"listing": listing_id, "item": item_id, "revision": seen}
    begun = await _begin(conn, asked, asked.deciding("person.map", basis), listing_id, seen)
    if isinstance(begun, Decided):
        return begun
    writer, listing = begun
    state, _ = (await facts.item_revisions(conn, asked.stream, [item_id])).get(item_id, ("unknown", 0))
    if state != "active":
        raise UnknownItem
    if listing.item_id == item_id:
        raise AlreadySo
    tree = await verdicts.tree(conn, asked.stream, item_id)
    standing = await verdicts.between(conn, asked.stream, [listing_id], tree)
    verdicts.check_overruled(standing, asked.overrules)
    for verdict in standing:
        await verdicts.withdraw(writer, *verdict.pair)
    if listing.state == "rejected":
        listing = await speaking.decide(writer, listing, listing.reading, "open")
    await placing.map_listing(writer, listing, item_id, "person")
    await placing.check_room(writer, [item_id])
    await questions.withdraw(writer, listing_id, listing.reading.reading_id)
    keys = keys_of(listing.reading)
    await derive_keys(writer, keys)
    await rules.rerun(writer, keys)
    return await writer.finish()


async def clear_mapping(conn: Connection, asked: Asked, seen: int, listing_id: str) -> Decided:
    """The listing is not the item that it is mapped to: a verdict, and a question which item it is."""
    basis = {"listing": listing_id, "revision": seen}
    begun = await _begin(conn, asked, asked.deciding("person.clear", basis), listing_id, seen)
    if isinstance(begun, Decided):
        return begun
    writer, listing = begun
    if listing.home_item_id is None:
        raise AlreadySo
    await placing.clear_mapping(writer, listing, "undone")
    await leave_open(writer, listing, listing.home_item_id)
    await derive_keys(writer, keys_of(listing.reading))
    return await writer.finish()


async def say_differ(conn: Connection, asked: Asked, one: str, other: str) -> Decided:
    """Two items, two listings, or a listing and an item are not the same: rules never join their trees.

    AlreadySo if that stands; Changed if they are the same item now, which is to be split first.
    """
    deciding = asked.deciding("person.differ", {"pair": list(verdicts.ordered(one, other))})
    cursor = await streams.lock(conn, asked.stream)
    first = await first_result(conn, asked.stream, deciding)
    if first is not None:
        return first
    roots = [await _root_of(conn, asked.stream, thing) for thing in (one, other)]
    if one == other or (roots[0] is not None and roots[0] == roots[1]):
        raise Changed({"item_id": roots[0]})
    if await verdicts.find(conn, asked.stream, [verdicts.ordered(one, other)]):
        raise AlreadySo
    writer = Writer(conn, cursor, deciding)
    await writer.begin(())
    await verdicts.differ(writer, one, other)
    writer.touched.moved.update((one, other))
    return await writer.finish()


async def call_key_wrong(conn: Connection, asked: Asked, seen: int, listing_id: str, key: Key) -> Decided:
    """An exact key that the listing states is not its own: it counts no longer. A mapped listing stays."""
    basis = {"listing": listing_id, "key": key.name, "revision": seen}
    begun = await _begin(conn, asked, asked.deciding("person.key_is_wrong", basis), listing_id, seen)
    if isinstance(begun, Decided):
        return begun
    writer, listing = begun
    if key not in exact(keys_of(listing.reading)):
        raise WrongKey
    await verdicts.differ(writer, listing_id, key.name)
    keys = keys_of(listing.reading)
    await hear_anew(writer, [listing_id])
    await derive_keys(writer, keys)
    await rules.rerun(writer, keys)
    return await writer.finish()


async def hear_anew(writer: Writer, listing_ids: Collection[str]) -> None:
    """Verdicts about keys of these listings have changed: find them by what is heard of them now, and settle them."""
    for listing in (await facts.listings(writer.conn, writer.stream, listing_ids)).values():
        await speaking.replace_keys(writer.conn, writer.stream, listing.listing_id, keys_of(listing.reading))
        writer.touch(listing)


async def leave_open(writer: Writer, listing: Listing, item_id: str, *, differs: bool = True) -> None:
    """A listing that was taken out of an item: no rule puts it back, and a person is asked.

    differs: whether a verdict is to keep the two apart; an item that is no more needs none.
    """
    if differs:
        await verdicts.differ(writer, listing.listing_id, item_id)
    if listing.state != "open" or await questions.open_reasons(writer.conn, writer.stream, listing.listing_id):
        return
    doubt = Doubt("match", questions.UNDONE, (item_id,))
    case_id = await questions.ask(writer.conn, writer.cursor, listing, listing.reading, doubt, writer.decision_id)
    writer.note("case", case_id, None, questions.OPEN)


async def _begin(
    conn: Connection, asked: Asked, deciding: Request, listing_id: str, seen: int
) -> tuple[Writer, Listing] | Decided:
    """Hold cursor and listing; the first result, or the listing with its mapping as it was looked at."""
    cursor: Cursor = await streams.lock(conn, asked.stream)
    first = await first_result(conn, asked.stream, deciding)
    if first is not None:
        return first
    listing = (await speaking.lock(conn, asked.stream, [listing_id])).get(listing_id)
    if listing is None:
        raise UnknownListing
    if listing.mapping_revision != seen:
        raise Changed(await decision_view.listing_since(conn, asked.stream, listing, seen))
    prior = await decision_view.changes_since(conn, asked.stream, "mapping", listing_id, seen - 1)
    writer = Writer(conn, cursor, deciding.following(tuple(_decision_of(one) for one in prior)))
    await writer.begin(listing.reading.facts)
    return writer, listing


def _decision_of(change: dict[str, object]) -> str:
    decision = change["decision"]
    assert isinstance(decision, dict)
    return str(decision["decision_id"])  # pyright: ignore[reportUnknownArgumentType]  # made by decision_view


async def _root_of(conn: Connection, stream: Stream, thing: str) -> str | None:
    """The root of an item or listing; None of an unmapped listing. UnknownItem, UnknownListing."""
    if thing.startswith("lst_"):
        found = await facts.listings(conn, stream, [thing])
        if thing not in found:
            raise UnknownListing
        return found[thing].item_id
    leads = await facts.roots_of_items(conn, stream, [thing], {})
    if thing not in leads:
        raise UnknownItem
    return leads[thing]
