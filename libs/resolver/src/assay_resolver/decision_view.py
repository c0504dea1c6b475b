"""⑤ Decisions as people see them: what one did and asserted, and what several did since somebody looked."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from assay_contracts.timestamps import timestamp
from assay_runtime import sql

from assay_resolver import facts, parts
from assay_resolver.decisions import changes_of
from assay_resolver.errors import UnknownDecision, UnknownListing
from assay_resolver.facts import ItemState
from assay_resolver.reading import Listing, document_of
from assay_resolver.streams import Connection, Stream

_DECISION = sql.load("assay_resolver", "decision")
_CASE = sql.load("assay_resolver", "review_case")


async def show_decision(conn: Connection, stream: Stream, decision_id: str) -> dict[str, object]:
    """Who decided what and why, its events, its parts, and the decisions that undid it. UnknownDecision."""
    parameters = {**stream.scope, "decision_id": decision_id}
    row = await (await conn.execute(_DECISION["show_decision"], parameters)).fetchone()
    if row is None:
        raise UnknownDecision
    names = ("decision_id", "action", "actor", "rationale", "basis", "evidence", "prior", "undoes", "decided_at")
    shown: dict[str, object] = dict(zip(names, row, strict=True))
    undone = await (await conn.execute(_DECISION["decisions_undoing"], parameters)).fetchall()
    return {
        **shown,
        "basis": document_of(row[4]),
        "decided_at": timestamp(row[8]),
        "events": [
            {"aggregate": one.aggregate, "id": one.id, "revision": one.revision, "type": one.type,
             "position": one.position}
            for one in await changes_of(conn, stream, decision_id)
        ],
        "parts": [one.shown() for one in await parts.of_decision(conn, stream, decision_id)],
        "undone_by": [one[0] for one in undone],
    }  # fmt: skip


async def list_decisions(
    conn: Connection, stream: Stream, about: str | None, before: str | None, limit: int
) -> list[dict[str, object]]:
    """A page of decisions, newest first; about: only those that changed this item or listing, or its values."""
    parameters = {**stream.scope, "about": about, "before": before, "limit": limit}
    statement = _DECISION["list_decisions" if about is None else "decisions_about"]
    names = ("decision_id", "action", "actor", "rationale", "undoes", "decided_at")
    rows = await (await conn.execute(statement, parameters)).fetchall()
    return [{**dict(zip(names, row, strict=True)), "decided_at": timestamp(row[5])} for row in rows]


async def show_listing(conn: Connection, stream: Stream, listing_id: str) -> dict[str, object]:
    """A listing: how it speaks, which item it is, its mapping's revision, and what is open about it."""
    found = await facts.listings(conn, stream, [listing_id])
    if listing_id not in found:
        raise UnknownListing
    rows = await conn.execute(_CASE["open_cases_of"], {**stream.scope, "subject": listing_id})
    keys = await facts.exact_keys_of_listings(conn, stream, [listing_id])
    return {
        **_listing(found[listing_id]),
        "keys": sorted(key.name for key in keys),
        "wrong_keys": sorted(found[listing_id].wrong),
        "open_cases": [row[0] for row in await rows.fetchall()],
    }


async def items_since(
    conn: Connection, stream: Stream, states: Iterable[ItemState], seen: Mapping[str, int]
) -> dict[str, object]:
    """Items as they stand, each with what happened to it since the revision that was seen."""
    return {
        "items": [
            {
                "item_id": one.item_id,
                "state": one.state,
                "merged_into": one.merged_into,
                "revision": one.revision,
                "changes": await changes_since(conn, stream, "item", one.item_id, seen[one.item_id]),
            }
            for one in states
        ]
    }


async def listing_since(conn: Connection, stream: Stream, listing: Listing, seen: int) -> dict[str, object]:
    """A listing as it stands, with what happened to its mapping since the revision that was seen."""
    changes = await changes_since(conn, stream, "mapping", listing.listing_id, seen)
    return {"listing": _listing(listing), "changes": changes}


async def changes_since(
    conn: Connection, stream: Stream, aggregate: str, id_: str, seen: int
) -> list[dict[str, object]]:
    """What decisions did to one aggregate after a revision."""
    parameters = {**stream.scope, "aggregate": aggregate, "id": id_, "after": seen}
    rows = await (await conn.execute(_DECISION["changes_after"], parameters)).fetchall()
    return [_change(row) for row in rows]


def _change(row: tuple[object, ...]) -> dict[str, object]:
    revision, kind, data, position, decision_id, action, actor, rationale, decided_at = row
    assert isinstance(decided_at, datetime)
    decision = {"decision_id": decision_id, "action": action, "actor": actor, "rationale": rationale}
    return {
        "revision": revision,
        "type": kind,
        "position": position,
        "data": document_of(str(data)),
        "decision": {**decision, "decided_at": timestamp(decided_at)},
    }


def _listing(listing: Listing) -> dict[str, object]:
    return {
        "listing_id": listing.listing_id,
        "source_id": listing.source_id,
        "key": listing.key,
        "serial": listing.serial,
        "url": listing.url,
        "state": listing.state,
        "item_id": listing.item_id,
        "home_item_id": listing.home_item_id,
        "revision": listing.mapping_revision,
    }
