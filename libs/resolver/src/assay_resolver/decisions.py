"""⑤ One decision: its row, the changes it makes, their events at consecutive positions; all or nothing.

The caller holds the transaction and the stream's cursor (`streams.lock`). Each change row is written before the row
that it allows, and what cannot hold is refused by a constraint: the caller's rollback takes decision, positions,
facts and events together. Beside its changes a decision keeps its *parts*: what it asserted, which an undo withdraws.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from assay_contracts.evidence import evidence_uri
from assay_contracts.ids import TenantId, new_id, uuid7
from assay_runtime import sql
from assay_runtime.failpoints import failpoint

from assay_resolver import parts, settling, streams
from assay_resolver.errors import RequestReused, TooManyEvents
from assay_resolver.outbox import Event, event_bytes
from assay_resolver.parts import Part
from assay_resolver.reading import Document, Fact, Listing, canonical, document_of
from assay_resolver.streams import Connection, Cursor, Stream

MAX_EVENTS: Final = 5_000

_DECISION = sql.load("assay_resolver", "decision")
_ITEM = sql.load("assay_resolver", "item")
_CASE = sql.load("assay_resolver", "review_case")
_SEEN: Final = frozenset({"revision", "revisions"})


@dataclass(frozen=True, slots=True)
class Request:
    """Who decides what, and why. request_id: a retry with the same one gets the first result.

    basis: the revisions and versions that the decision rests on; the same request must name the same ones.
    prior: earlier decisions that it follows or replaces. undoes: the decision that it undoes.
    """

    request_id: str
    action: str
    actor: str
    rationale: str
    basis: Document
    prior: tuple[str, ...] = ()
    undoes: str | None = None

    def following(self, prior: tuple[str, ...]) -> "Request":
        """The request with the decisions that it follows."""
        return replace(self, prior=prior)

    def undoing(self, decision_id: str) -> "Request":
        """The request that follows a decision by undoing it."""
        return replace(self, prior=(decision_id,), undoes=decision_id)


@dataclass(frozen=True, slots=True)
class Asked:
    """What every request of a person has in common.

    overrules: the decisions of verdicts that stand in its way, named so that they stand no longer.
    """

    stream: Stream
    request_id: str
    actor: str
    rationale: str
    overrules: tuple[str, ...] = ()

    def deciding(self, action: str, basis: Document) -> Request:
        """The decision that is asked for."""
        return Request(f"req:{self.request_id}", action, self.actor, self.rationale, basis)


@dataclass(frozen=True, slots=True)
class ChangeRef:
    """One event of a decision."""

    aggregate: str
    id: str
    revision: int
    type: str
    position: int


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision's result. repeated: it stood already, and nothing was done."""

    decision_id: str
    events: tuple[ChangeRef, ...]
    repeated: bool = False


async def first_result(conn: Connection, stream: Stream, request: Request) -> Decided | None:
    """What the request led to before, if it did; RequestReused if it asked for something else then."""
    rows = await conn.execute(_DECISION["find_decision"], {**stream.scope, "request_id": request.request_id})
    row = await rows.fetchone()
    if row is None:
        return None
    if (row[1], _asked(document_of(row[2]))) != (request.action, _asked(request.basis)):
        raise RequestReused
    return Decided(row[0], await changes_of(conn, stream, row[0]), repeated=True)


def _asked(basis: Document) -> Document:
    """What was asked, whatever revisions the asker had seen: a retry may have looked again in between."""
    return {name: value for name, value in basis.items() if name not in _SEEN}


async def changes_of(conn: Connection, stream: Stream, decision_id: str) -> tuple[ChangeRef, ...]:
    """The events of a decision in the order of their positions."""
    rows = await conn.execute(_DECISION["changes_of"], {**stream.scope, "decision_id": decision_id})
    return tuple(ChangeRef(*row) for row in await rows.fetchall())


@dataclass(frozen=True, slots=True)
class Ending:
    """An item that is no root or hidden once the decision is done; its event comes after those of values."""

    item_id: str
    state: str
    event: Event
    merged_into: str | None = None


@dataclass(slots=True)
class Touched:
    """Whatever a decision has to settle, and whose cases it raises."""

    items: set[str] = field(default_factory=set[str])
    listings: set[str] = field(default_factory=set[str])
    moved: set[str] = field(default_factory=set[str])


class Writer:
    """Writes one decision under a locked cursor: `begin`, then acts, then `finish`, in the caller's transaction."""

    def __init__(self, conn: Connection, cursor: Cursor, request: Request) -> None:
        self.decision_id = new_id("dec")
        self.conn, self.cursor, self.request = conn, cursor, request
        self.scope: Mapping[str, object] = cursor.stream.scope
        self.touched = Touched()
        self.endings: list[Ending] = []
        self._parts: list[Part] = []
        self._changes: list[ChangeRef] = []

    @property
    def stream(self) -> Stream:
        return self.cursor.stream

    @property
    def merging(self) -> dict[str, str]:
        """Items that this decision ends by merging them, with the item that each goes into."""
        return {one.item_id: one.merged_into for one in self.endings if one.merged_into is not None}

    async def begin(self, evidence: Iterable[Fact]) -> None:
        """Insert the immutable decision row. evidence: the facts that the decider looked at."""
        tenant = TenantId(self.stream.tenant_id)
        request = self.request
        await self.conn.execute(
            _DECISION["insert_decision"],
            {
                **self.scope,
                "decision_id": self.decision_id,
                "history_epoch": self.stream.history_epoch,
                "request_id": request.request_id,
                "action": request.action,
                "actor": request.actor,
                "rationale": request.rationale,
                "basis": canonical(request.basis),
                "evidence": sorted({evidence_uri(tenant, fact.evidence.sha256) for fact in evidence}),
                "prior": list(request.prior),
                "undoes": request.undoes,
                "decided_at": self.cursor.now,
            },
        )

    def note(self, kind: parts.Kind, id_: str, before: Document | None, after: Document | None) -> None:
        """Remember a part: what the decision asserts, and what stood in its place."""
        if before != after:
            self._parts.append(Part(kind, id_, before, after))

    def touch(self, listing: Listing, item_id: str | None = None) -> None:
        """The listing speaks otherwise than before, or for another item: settle it and its items."""
        self.touched.listings.add(listing.listing_id)
        self.touched.items.update(one for one in (listing.item_id, item_id) if one is not None)

    def touch_item(self, item_id: str) -> None:
        """A pin or a state of the item changed: settle it."""
        self.touched.items.add(item_id)

    async def finish(self, guarded: Mapping[tuple[str, str], str] | None = None) -> Decided:
        """Settle all that was touched, raise the cases that rest on it, and move the cursor.

        guarded: of some (item, name) the accepted value that a guarded attribute is to hold on to.
        """
        settled = await self._settle(guarded or {})
        touched = self.touched
        ids = sorted(touched.items | touched.listings | touched.moved | {one.item_id for one in self.endings})
        raised = {**self.scope, "ids": ids, "decision_id": self.decision_id}
        async with self.conn.pipeline(), self.conn.cursor() as many:
            await self.change([one.event for one in settled])
            await many.executemany(_ITEM["upsert_attribute"], [one.row for one in settled])
            await self._end_items()
            await parts.store(self.conn, self.stream, self.decision_id, self._parts)
            await self.conn.execute(_CASE["raise_revisions"], raised)
            await streams.advance(self.conn, self.cursor)
        failpoint("resolver.before_commit")
        return Decided(self.decision_id, tuple(self._changes))

    async def _settle(self, guarded: Mapping[tuple[str, str], str]) -> list[settling.Settled]:
        items, listings = self.touched.items, self.touched.listings
        scene = settling.Scene(self.conn, self.stream, items, listings, self.merging, guarded)
        return await settling.settle(scene)

    async def _end_items(self) -> None:
        await self.change([one.event for one in self.endings])
        for one in self.endings:
            row = {"item_id": one.item_id, "state": one.state, "merged_into": one.merged_into}
            await self.conn.execute(_ITEM["set_item"], {**self.scope, **row, "revision": one.event.revision})

    async def change(self, events: list[Event]) -> None:
        """Write changes, their supports and their outbox rows at the next positions. TooManyEvents past the limit."""
        if len(self._changes) + len(events) > MAX_EVENTS:
            raise TooManyEvents
        changes: list[dict[str, object]] = []
        supports: list[dict[str, object]] = []
        outbox: list[dict[str, object]] = []
        for event in events:
            event_id = uuid7()
            value = event_bytes(event, event_id, self.decision_id, self.cursor)
            self.cursor.take(event_id, value)
            place = {
                **self.scope,
                "history_epoch": self.stream.history_epoch,
                "position": self.cursor.position,
                "event_id": event_id,
            }
            aggregate = {"aggregate": event.aggregate, "id": event.id, "revision": event.revision}
            decided = {"decision_id": self.decision_id, "type": event.type, "data": canonical(event.data)}
            changes.append({**place, **aggregate, **decided})
            outbox.append({**place, "value": value})
            supports += [{**self.scope, **aggregate, "reading_id": fact, "n": n} for fact, n in event.supported_by]
            self._changes.append(ChangeRef(event.aggregate, event.id, event.revision, event.type, self.cursor.position))
        async with self.conn.pipeline(), self.conn.cursor() as many:
            await many.executemany(_DECISION["insert_change"], changes)
            await many.executemany(_DECISION["insert_support"], supports)
            await many.executemany(_DECISION["insert_outbox"], outbox)
