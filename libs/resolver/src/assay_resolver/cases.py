"""⑤ What people decide: the open questions, and the three answers to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from assay_contracts.timestamps import timestamp
from assay_runtime import sql

from assay_resolver import facts, questions, rules, streams
from assay_resolver.decisions import Decided, Request, Writer, first_result
from assay_resolver.errors import CaseConflict, NotACandidate, UnknownCase, UnknownItem
from assay_resolver.identity import keys_of
from assay_resolver.reading import Fact, Listing, Reading, document_of
from assay_resolver.streams import Connection, Cursor, Stream

_CASE = sql.load("assay_resolver", "review_case")
_LISTING = sql.load("assay_resolver", "listing")
_ITEM = sql.load("assay_resolver", "item")


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A question: kind match or collision, about the listing `subject` as read in `reading_id`."""

    case_id: str
    kind: str
    subject: str
    reading_id: str
    reason: str
    state: str
    revision: int
    decision_id: str | None
    opened_at: datetime
    closed_at: datetime | None

    def shown(self) -> dict[str, object]:
        """The row as an API shows it."""
        return {
            "case_id": self.case_id,
            "kind": self.kind,
            "listing_id": self.subject,
            "reading_id": self.reading_id,
            "reason": self.reason,
            "state": self.state,
            "revision": self.revision,
            "decision_id": self.decision_id,
            "opened_at": timestamp(self.opened_at),
            "closed_at": timestamp(self.closed_at) if self.closed_at else None,
        }


@dataclass(frozen=True, slots=True)
class CaseRequest:
    """An answer to a case, as it stood at `expected_revision`."""

    stream: Stream
    case_id: str
    expected_revision: int
    request_id: str
    actor: str
    rationale: str

    def deciding(self, action: str, item_id: str | None) -> Request:
        """The decision that it asks for."""
        basis = {"case": self.case_id, "revision": self.expected_revision, "item": item_id}
        return Request(f"req:{self.request_id}", action, self.actor, self.rationale, basis)


@dataclass(frozen=True, slots=True)
class _Opened:
    """A case that is being decided: its cursor is held, its listing locked, its revision taken."""

    cursor: Cursor
    writer: Writer
    listing: Listing
    reading: Reading
    items: tuple[str, ...]


async def list_cases(
    conn: Connection, stream: Stream, state: str = "open", after: str = "", limit: int = 50
) -> tuple[CaseRow, ...]:
    """A page of a catalog's cases, oldest first, after the case id `after`."""
    rows = await conn.execute(_CASE["list_cases"], {**stream.scope, "state": state, "after": after, "limit": limit})
    return tuple(CaseRow(*row) for row in await rows.fetchall())


async def show_case(conn: Connection, stream: Stream, case_id: str) -> dict[str, object]:
    """A case with the listing's facts beside each candidate's accepted values. UnknownCase if there is none."""
    row = await _find(conn, stream, case_id)
    listing = (await facts.listings(conn, stream, [row.subject]))[row.subject]
    reading = (await facts.readings(conn, stream, [row.reading_id]))[row.reading_id]
    scored = await (
        await conn.execute(_CASE["candidates_of"], {**stream.scope, "reading_id": row.reading_id})
    ).fetchall()
    items = await _items_of(conn, stream, case_id)
    values = await facts.accepted(conn, stream, items)
    return {
        **row.shown(),
        "listing": {
            "listing_id": listing.listing_id,
            "source_id": listing.source_id,
            "key": listing.key,
            "url": listing.url,
            "state": listing.state,
            "item_id": listing.item_id,
        },
        "facts": [_shown(fact) for fact in reading.facts],
        "candidates": [
            {
                "item_id": item,
                "score": next((one[1] for one in scored if one[0] == item), None),
                "features": next((document_of(one[2]) for one in scored if one[0] == item), None),
                "attributes": {
                    value.name: document_of(value.value)
                    for value in values
                    if value.owner_id == item and value.value is not None
                },
            }
            for item in items
        ],
    }


async def accept(conn: Connection, request: CaseRequest, item_id: str) -> Decided:
    """The listing is this item, one of those that the case shows."""
    deciding = request.deciding("person.accept", item_id)
    cursor = await streams.lock(conn, request.stream)
    first = await first_result(conn, request.stream, deciding)
    if first is not None:
        return first
    opened = await _open(conn, cursor, request, deciding)
    if item_id not in opened.items:
        raise NotACandidate
    await _check_active(conn, request.stream, item_id)
    return await _map(conn, opened, item_id)


async def create_item(conn: Connection, request: CaseRequest) -> Decided:
    """The listing is none of the candidates: a new item, and a verdict against each of them."""
    deciding = request.deciding("person.create", None)
    cursor = await streams.lock(conn, request.stream)
    first = await first_result(conn, request.stream, deciding)
    if first is not None:
        return first
    opened = await _open(conn, cursor, request, deciding)
    for item_id in opened.items:
        await conn.execute(
            _ITEM["insert_verdict"],
            {
                **request.stream.scope,
                "one": opened.listing.listing_id,
                "other": item_id,
                "decision_id": opened.writer.decision_id,
            },
        )
    return await _map(conn, opened, await opened.writer.create_item(opened.listing))


async def reject(conn: Connection, request: CaseRequest) -> Decided:
    """The listing is not to be in the catalog; it stays out until it states an exact key that it never had."""
    deciding = request.deciding("person.reject", None)
    cursor = await streams.lock(conn, request.stream)
    first = await first_result(conn, request.stream, deciding)
    if first is not None:
        return first
    opened = await _open(conn, cursor, request, deciding)
    listing = opened.listing
    await opened.writer.clear_mapping(listing, "rejected")
    await questions.withdraw(conn, cursor, listing.listing_id, questions.KINDS)
    parameters = {**request.stream.scope, "listing_id": listing.listing_id, "state": "rejected"}
    await conn.execute(_LISTING["set_state"], parameters)
    await opened.writer.derive_keys(keys_of(listing.reading))
    return await opened.writer.finish()


async def _open(conn: Connection, cursor: Cursor, request: CaseRequest, deciding: Request) -> _Opened:
    """Under the cursor: lock the listing, then take the case at the revision that the reviewer saw."""
    stream = request.stream
    row = await _find(conn, stream, request.case_id)
    await conn.execute(_LISTING["lock_listing"], {**stream.scope, "listing_id": row.subject})
    listing = (await facts.listings(conn, stream, [row.subject]))[row.subject]
    reading = (await facts.readings(conn, stream, [row.reading_id]))[row.reading_id]
    writer = Writer(conn, cursor, deciding)
    await writer.begin(reading.facts)
    parameters = {
        **stream.scope,
        "case_id": request.case_id,
        "expected": request.expected_revision,
        "decision_id": writer.decision_id,
        "at": cursor.now,
    }
    if (await conn.execute(_CASE["decide_case"], parameters)).rowcount != 1:
        raise CaseConflict(await show_case(conn, stream, request.case_id))
    return _Opened(cursor, writer, listing, reading, await _items_of(conn, stream, request.case_id))


async def _map(conn: Connection, opened: _Opened, item_id: str) -> Decided:
    """Let the listing speak by the reading that was asked about, and be the item."""
    stream, listing = opened.cursor.stream, opened.listing
    if opened.reading.order > listing.reading.order:
        await rules.speak_by(conn, stream, listing, opened.reading)
    speaking = (await facts.listings(conn, stream, [listing.listing_id]))[listing.listing_id]
    await opened.writer.map_listing(speaking, item_id, "person")
    await questions.withdraw(conn, opened.cursor, listing.listing_id, questions.KINDS)
    keys = keys_of(speaking.reading) | keys_of(listing.reading)
    await opened.writer.derive_keys(keys)
    await rules.rerun(conn, opened.cursor, opened.writer, keys)
    return await opened.writer.finish()


async def _find(conn: Connection, stream: Stream, case_id: str) -> CaseRow:
    row = await (await conn.execute(_CASE["find_case"], {**stream.scope, "case_id": case_id})).fetchone()
    if row is None:
        raise UnknownCase
    return CaseRow(*row)


async def _items_of(conn: Connection, stream: Stream, case_id: str) -> tuple[str, ...]:
    rows = await conn.execute(_CASE["refs_of_case"], {**stream.scope, "case_id": case_id})
    return tuple(id_ for kind, id_ in await rows.fetchall() if kind == "item")


async def _check_active(conn: Connection, stream: Stream, item_id: str) -> None:
    state, _ = (await facts.item_revisions(conn, stream, [item_id])).get(item_id, ("unknown", 0))
    if state != "active":
        raise UnknownItem


def _shown(fact: Fact) -> Mapping[str, object]:
    return {
        "fact": f"{fact.reading_id}:{fact.n}",
        "name": fact.name,
        "line": fact.line or None,
        "value": fact.document,
        "raw": fact.evidence.raw,
        "sha256": fact.evidence.sha256,
        "place_syntax": fact.evidence.place_syntax,
        "place": fact.evidence.place,
        "adapter": fact.evidence.adapter,
        "profile": fact.evidence.profile,
    }
