"""Opens, changes and withdraws review cases: the questions that rules leave to people."""

from collections.abc import Iterable
from typing import Final

from assay_contracts.ids import new_id
from assay_runtime import sql

from assay_resolver.identity import MODEL, Doubt, Scored
from assay_resolver.reading import Listing, Reading, canonical
from assay_resolver.streams import Connection, Cursor

KINDS: Final = ("match", "collision")
"""The kinds of case that are opened so far."""

_CASE = sql.load("assay_resolver", "review_case")


async def ask(conn: Connection, cursor: Cursor, listing: Listing, reading: Reading, doubt: Doubt) -> str:
    """Open the listing's case of this kind, or bring the open one up to the reading; return its id."""
    scope = cursor.stream.scope
    parameters = {
        **scope,
        "case_id": new_id("case"),
        "kind": doubt.kind,
        "subject": listing.listing_id,
        "reading_id": reading.reading_id,
        "reason": doubt.reason,
        "opened_at": cursor.now,
    }
    row = await (await conn.execute(_CASE["open_case"], parameters)).fetchone()
    assert row is not None
    case = {**scope, "case_id": row[0]}
    await conn.execute(_CASE["drop_refs"], case)
    refs = [("listing", listing.listing_id), *(("item", item) for item in doubt.items)]
    async with conn.cursor() as many:
        await many.executemany(_CASE["insert_ref"], [{**case, "type": kind, "id": id_} for kind, id_ in refs])
    await _keep_candidates(conn, cursor, reading, doubt.scored)
    return row[0]


async def withdraw(conn: Connection, cursor: Cursor, listing_id: str, kinds: Iterable[str]) -> None:
    """The listing's open questions of these kinds are gone."""
    await conn.execute(
        _CASE["withdraw_cases"],
        {**cursor.stream.scope, "subject": listing_id, "kinds": list(kinds), "at": cursor.now},
    )


async def _keep_candidates(conn: Connection, cursor: Cursor, reading: Reading, scored: Iterable[Scored]) -> None:
    scope = {**cursor.stream.scope, "reading_id": reading.reading_id}
    await conn.execute(_CASE["drop_candidates"], scope)
    rows = [
        {
            **scope,
            "item_id": one.item_id,
            "score": str(one.score),
            "features": canonical(one.features),
            "model": MODEL,
        }
        for one in scored
    ]
    async with conn.cursor() as many:
        await many.executemany(_CASE["insert_candidate"], rows)
