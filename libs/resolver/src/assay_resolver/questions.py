"""Opens, changes, withdraws and reopens review cases: the questions that rules leave to people."""

from collections.abc import Iterable
from typing import Final

from assay_contracts.ids import new_id
from assay_runtime import sql

from assay_resolver.decisions import Writer
from assay_resolver.identity import MODEL, Doubt, Scored
from assay_resolver.reading import Document, Listing, Reading, canonical
from assay_resolver.streams import Connection, Cursor, Stream

KINDS: Final = ("match", "collision")
"""The kinds of case that are opened so far."""

UNDONE: Final = "undone"
"""The reason of a question that a person raised by taking a listing out of its item: no rule makes an item of it."""

OPEN: Final[Document] = {"state": "open"}
WITHDRAWN: Final[Document] = {"state": "withdrawn"}
DECIDED: Final[Document] = {"state": "decided"}

_CASE = sql.load("assay_resolver", "review_case")


async def ask(
    conn: Connection, cursor: Cursor, listing: Listing, reading: Reading, doubt: Doubt, decision_id: str | None = None
) -> str:
    """Open the listing's case of this kind, or bring the open one up to the reading; return its id.

    decision_id: the decision that raises the question, if one does.
    """
    scope = cursor.stream.scope
    parameters = {
        **scope,
        "case_id": new_id("case"),
        "kind": doubt.kind,
        "subject": listing.listing_id,
        "reading_id": reading.reading_id,
        "reason": doubt.reason,
        "opened_at": cursor.now,
        "decision_id": decision_id,
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


async def withdraw(writer: Writer, listing_id: str, reading_id: str | None = None) -> None:
    """The listing's open questions are gone; with reading_id only those about that reading."""
    parameters = {
        **writer.scope,
        "subject": listing_id,
        "reading_id": reading_id,
        "at": writer.cursor.now,
        "decision_id": writer.decision_id,
    }
    rows = await writer.conn.execute(_CASE["withdraw_cases"], parameters)
    for (case_id,) in await rows.fetchall():
        writer.note("case", case_id, OPEN, WITHDRAWN)


async def close(writer: Writer, case_id: str, expected: int, after: Document) -> bool:
    """Decide or withdraw an open case at the revision that was looked at; False if it is not as expected."""
    parameters = {
        **writer.scope,
        "case_id": case_id,
        "expected": expected,
        "state": after["state"],
        "decision_id": writer.decision_id,
        "at": writer.cursor.now,
    }
    closed = (await writer.conn.execute(_CASE["close_case"], parameters)).rowcount == 1
    if closed:
        writer.note("case", case_id, OPEN, after)
    return closed


async def close_any(writer: Writer, case_id: str, after: Document) -> None:
    """Close a case that is open, whatever its revision."""
    rows = await writer.conn.execute(_CASE["find_case"], {**writer.scope, "case_id": case_id})
    row = await rows.fetchone()
    if row is not None and row[5] == OPEN["state"]:
        await close(writer, case_id, row[6], after)


async def reopen(writer: Writer, case_id: str, before: Document) -> bool:
    """Ask a closed question again; False if one like it is open already."""
    parameters = {**writer.scope, "case_id": case_id, "decision_id": writer.decision_id}
    reopened = (await writer.conn.execute(_CASE["reopen_case"], parameters)).rowcount == 1
    if reopened:
        writer.note("case", case_id, before, OPEN)
    return reopened


async def open_reasons(conn: Connection, stream: Stream, listing_id: str) -> dict[str, str]:
    """The reasons of a listing's open cases, by kind."""
    rows = await conn.execute(_CASE["open_reasons"], {**stream.scope, "subject": listing_id})
    return dict(await rows.fetchall())


async def asked_readings(conn: Connection, stream: Stream, listing_id: str) -> dict[str, str]:
    """The readings that a listing's open cases are about, by kind."""
    rows = await conn.execute(_CASE["asked_readings"], {**stream.scope, "subject": listing_id})
    return dict(await rows.fetchall())


async def ever_asked_readings(conn: Connection, stream: Stream, listing_id: str) -> list[str]:
    """Every reading that a case of the listing was ever about."""
    rows = await conn.execute(_CASE["ever_asked_readings"], {**stream.scope, "subject": listing_id})
    return [row[0] for row in await rows.fetchall()]


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
