"""By which reading a listing speaks, in which state, and by which keys it is then found."""

from collections.abc import Collection
from typing import Final

from assay_runtime import sql

from assay_resolver import facts
from assay_resolver.decisions import Writer
from assay_resolver.errors import Superseded
from assay_resolver.identity import Key, heard, keys_of
from assay_resolver.reading import Document, Listing, ListingState, Order, Reading
from assay_resolver.streams import Connection, Stream

LIVE: Final = ("open", "gone")
"""The states of which one listing of a source's key can be."""

_LISTING = sql.load("assay_resolver", "listing")


async def speak_by(
    conn: Connection, stream: Stream, listing: Listing, reading: Reading, state: ListingState = "open"
) -> None:
    """Store by which reading a listing speaks, with the keys of what is heard of it."""
    row = {"listing_id": listing.listing_id, "reading_id": reading.reading_id, "url": reading.url, "state": state}
    keys = keys_of(heard(reading, [Key.named(name) for name in listing.wrong]))
    async with conn.pipeline():
        await conn.execute(_LISTING["speak_by"], {**stream.scope, **row})
        await replace_keys(conn, stream, listing.listing_id, keys)


async def look(conn: Connection, stream: Stream, listing: Listing, order: Order) -> None:
    """Remember the latest look, by which the listing does not speak: no older page counts any more."""
    if order > listing.looked:
        row = dict(zip(("observed_at", "received_at", "receipt_id", "attempt_group"), order, strict=True))
        await conn.execute(_LISTING["remember_look"], {**stream.scope, **row, "listing_id": listing.listing_id})


async def replace_keys(conn: Connection, stream: Stream, listing_id: str, keys: frozenset[Key]) -> None:
    """By these keys and no others the listing is found."""
    scope = {**stream.scope, "listing_id": listing_id}
    async with conn.pipeline():
        await conn.execute(_LISTING["drop_keys"], scope)
        await conn.execute(_LISTING["insert_keys"], {**scope, **facts.columns(keys)})


async def decide(writer: Writer, listing: Listing, reading: Reading, state: ListingState) -> Listing:
    """A person decides how the listing speaks: a part of the decision. The listing as it is then.

    Superseded if it is to live again and another listing has taken its place.
    """
    returns = state in LIVE and listing.state not in LIVE
    if returns and await superseded(writer.conn, writer.stream, [listing.listing_id]):
        raise Superseded
    after = {"state": state, "reading_id": reading.reading_id}
    writer.note("listing", listing.listing_id, listing_of(listing), after)
    await speak_by(writer.conn, writer.stream, listing, reading, state)
    return (await facts.listings(writer.conn, writer.stream, [listing.listing_id]))[listing.listing_id]


async def lock(conn: Connection, stream: Stream, listing_ids: list[str]) -> dict[str, Listing]:
    """Hold some listings until the decision commits; those that exist, as they stand."""
    await conn.execute(_LISTING["lock_listings"], {**stream.scope, "listings": listing_ids})
    return await facts.listings(conn, stream, listing_ids)


async def superseded(conn: Connection, stream: Stream, listing_ids: Collection[str]) -> set[str]:
    """Those of some listings in whose place another one is live."""
    rows = await conn.execute(_LISTING["superseded_listings"], {**stream.scope, "listings": list(listing_ids)})
    return {row[0] for row in await rows.fetchall()}


def state_of(state: object) -> ListingState:
    """A listing's state as a part kept it."""
    known: tuple[ListingState, ...] = ("open", "gone", "replaced", "rejected")
    return next(one for one in known if one == state)


def listing_of(listing: Listing) -> Document:
    """How a listing speaks, as a part keeps it."""
    return {"state": listing.state, "reading_id": listing.reading.reading_id}
