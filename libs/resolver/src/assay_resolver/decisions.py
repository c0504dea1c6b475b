"""⑤ One decision: its row, the changes it makes, their events at consecutive positions; all or nothing.

The caller holds the transaction and the stream's cursor (`streams.lock`). Each change row is written before the row
that it allows, and what cannot hold is refused by a constraint: the caller's rollback takes decision, positions,
facts and events together.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from assay_contracts.decimals import canonical_decimal
from assay_contracts.evidence import evidence_uri
from assay_contracts.ids import TenantId, attribute_id, new_id, uuid7
from assay_runtime import sql
from assay_runtime.failpoints import failpoint

from assay_resolver import facts, streams
from assay_resolver.errors import RequestReused
from assay_resolver.facts import Accepted
from assay_resolver.identity import Key, exact
from assay_resolver.outbox import Event, event_bytes, evidence_of
from assay_resolver.reading import Document, Fact, Listing, Reading, canonical, document_of
from assay_resolver.settle import Slot, Wanted, same_result, settle_item, settle_listing
from assay_resolver.streams import Connection, Cursor, Stream

_DECISION = sql.load("assay_resolver", "decision")
_ITEM = sql.load("assay_resolver", "item")
_LISTING = sql.load("assay_resolver", "listing")
_CASE = sql.load("assay_resolver", "review_case")

Via = Literal["gtin", "brand_mpn", "new", "person"]


@dataclass(frozen=True, slots=True)
class Request:
    """Who decides what, and why. request_id: a retry with the same one gets the first result.

    basis: the revisions and versions that the decision rests on; the same request must name the same ones.
    """

    request_id: str
    action: str
    actor: str
    rationale: str
    basis: Document
    prior: tuple[str, ...] = ()


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
    return Decided(row[0], await _changes(conn, stream, row[0]), repeated=True)


def _asked(basis: Document) -> Document:
    """What was asked, whatever revision the asker had seen: a retry may have looked again in between."""
    return {name: value for name, value in basis.items() if name != "revision"}


async def _changes(conn: Connection, stream: Stream, decision_id: str) -> tuple[ChangeRef, ...]:
    rows = await conn.execute(_DECISION["changes_of"], {**stream.scope, "decision_id": decision_id})
    return tuple(ChangeRef(*row) for row in await rows.fetchall())


class Writer:
    """Writes one decision under a locked cursor: `begin`, then acts, then `finish`, in the caller's transaction."""

    def __init__(self, conn: Connection, cursor: Cursor, request: Request) -> None:
        self.decision_id = new_id("dec")
        self._conn, self._cursor, self._request = conn, cursor, request
        self._scope = cursor.stream.scope
        self._items: set[str] = set()
        self._listings: set[str] = set()

    async def begin(self, evidence: Iterable[Fact]) -> None:
        """Insert the immutable decision row. evidence: the facts that the decider looked at."""
        tenant = TenantId(self._cursor.stream.tenant_id)
        request = self._request
        await self._conn.execute(
            _DECISION["insert_decision"],
            {
                **self._scope,
                "decision_id": self.decision_id,
                "history_epoch": self._cursor.stream.history_epoch,
                "request_id": request.request_id,
                "action": request.action,
                "actor": request.actor,
                "rationale": request.rationale,
                "basis": canonical(request.basis),
                "evidence": sorted({evidence_uri(tenant, fact.evidence.sha256) for fact in evidence}),
                "prior": list(request.prior),
                "decided_at": self._cursor.now,
            },
        )

    async def create_item(self, from_listing: Listing | None) -> str:
        """A new item, which the listing made."""
        item_id = new_id("item")
        source = from_listing.listing_id if from_listing else None
        await self._change([Event("item.created", "item", item_id, 1, {"from_listing_id": source})])
        await self._conn.execute(_ITEM["insert_item"], {**self._scope, "item_id": item_id})
        self._items.add(item_id)
        return item_id

    async def map_listing(self, listing: Listing, item_id: str, via: Via, score: Decimal | None = None) -> None:
        """Assert that the listing is the item, taking it from the one that it was mapped to."""
        support = mapping_support(listing.reading, via)
        revision = await self._next_mapping_revision(listing.listing_id)
        item_revision = (await facts.item_revisions(self._conn, self._cursor.stream, [item_id]))[item_id][1]
        score_text = None if score is None else canonical_decimal(score)
        data = {
            "item_id": item_id,
            "home_item_id": item_id,
            "source_id": listing.source_id,
            "listing_key": listing.key,
            "serial": listing.serial,
            "url": listing.url,
            "group_key": listing.reading.group_key,
            "via": via,
            "score": score_text,
            "evidence": evidence_of(self._cursor.stream.tenant_id, support),
        }
        event = Event(
            "mapping.set", "mapping", listing.listing_id, revision, data, (("item", item_id, item_revision),), support
        )
        await self._change([event])
        await self._store_mapping(listing.listing_id, revision, item_id, via, score_text)
        self._touch(listing, item_id)

    async def clear_mapping(self, listing: Listing, reason: Literal["rejected", "undone"]) -> None:
        """The listing is no item; its offers and what only it supported go with it."""
        if listing.item_id is None:
            return
        revision = await self._next_mapping_revision(listing.listing_id)
        await self._change([Event("mapping.cleared", "mapping", listing.listing_id, revision, {"reason": reason})])
        await self._store_mapping(listing.listing_id, revision, None, None, None)
        self._touch(listing, None)

    def touch(self, listing: Listing) -> None:
        """The listing speaks otherwise than before: settle it and its item."""
        self._touch(listing, None)

    def touch_item(self, item_id: str) -> None:
        """A pin or a state of the item changed: settle it."""
        self._items.add(item_id)

    async def derive_keys(self, keys: Iterable[Key]) -> None:
        """Let exact keys lead where the mapped listings that state them are."""
        columns = {**self._scope, **facts.columns(exact(keys))}
        await self._conn.execute(_ITEM["drop_item_keys"], columns)
        await self._conn.execute(_ITEM["derive_item_keys"], columns)

    async def finish(self) -> Decided:
        """Settle all that was touched, raise the cases that rest on it, and move the cursor."""
        await self._settle()
        ids = sorted(self._items | self._listings)
        await self._conn.execute(_CASE["raise_revisions"], {**self._scope, "ids": ids})
        await streams.advance(self._conn, self._cursor)
        failpoint("resolver.before_commit")
        return Decided(self.decision_id, await _changes(self._conn, self._cursor.stream, self.decision_id))

    def _touch(self, listing: Listing, item_id: str | None) -> None:
        self._listings.add(listing.listing_id)
        self._items.update(one for one in (listing.item_id, item_id) if one is not None)

    async def _next_mapping_revision(self, listing_id: str) -> int:
        rows = await self._conn.execute(_ITEM["find_mapping"], {**self._scope, "listing_id": listing_id})
        row = await rows.fetchone()
        return 1 if row is None else row[1] + 1

    async def _store_mapping(
        self, listing_id: str, revision: int, item_id: str | None, via: str | None, score: str | None
    ) -> None:
        await self._conn.execute(
            _ITEM["upsert_mapping"],
            {
                **self._scope,
                "listing_id": listing_id,
                "home_item_id": item_id,
                "item_id": item_id,
                "via": via,
                "score": score,
                "revision": revision,
            },
        )

    async def _settle(self) -> None:
        stream = self._cursor.stream
        grouped = await facts.listings_of_items(self._conn, stream, self._items)
        touched = await facts.listings(self._conn, stream, self._listings)
        pinned = await facts.pins(self._conn, stream, self._items)
        rows = await facts.accepted(self._conn, stream, [*grouped, *touched])
        wanted: dict[tuple[str, str], dict[Slot, Wanted]] = {
            ("item", item): settle_item(listings, pinned[item], _values(rows, item))
            for item, listings in grouped.items()
        }
        wanted |= {("listing", one.listing_id): settle_listing(one) for one in touched.values()}
        await self._accept(wanted, {_slot_of(row): row for row in rows}, touched)

    async def _accept(
        self,
        wanted: dict[tuple[str, str], dict[Slot, Wanted]],
        current: dict[tuple[str, str, Slot], Accepted],
        touched: dict[str, Listing],
    ) -> None:
        """Make a revision of every attribute whose settled result differs from the accepted one."""
        events: list[Event] = []
        rows: list[dict[str, object]] = []
        depends = await self._owner_revisions(wanted)
        for owner, slots in sorted(wanted.items()):
            for slot, value in sorted(slots.items()):
                before = current.get((*owner, slot))
                if not same_result(_standing(before), value):
                    events.append(self._set_event(owner, slot, value, before, depends[owner]))
                    rows.append(self._row(owner, slot, events[-1].revision, value))
        for (kind, owner_id, slot), before in sorted(current.items(), key=lambda entry: entry[0]):
            owner = (kind, owner_id)
            if before.value is not None and slot not in wanted.get(owner, {}):
                reason = _cleared_reason(before, touched.get(owner_id))
                events.append(self._cleared_event(owner, slot, before, reason))
                rows.append(self._row(owner, slot, events[-1].revision, None))
        await self._change(events)
        async with self._conn.cursor() as many:
            await many.executemany(_ITEM["upsert_attribute"], rows)

    async def _owner_revisions(self, owners: Iterable[tuple[str, str]]) -> dict[tuple[str, str], tuple[str, str, int]]:
        """The revision of each owner's item or mapping that its attributes depend on."""
        listed = list(owners)
        items = await facts.item_revisions(
            self._conn, self._cursor.stream, [id_ for kind, id_ in listed if kind == "item"]
        )
        found: dict[tuple[str, str], tuple[str, str, int]] = {
            ("item", item): ("item", item, revision) for item, (_, revision) in items.items()
        }
        for kind, listing_id in listed:
            if kind == "listing":
                revision = await self._next_mapping_revision(listing_id) - 1
                found[kind, listing_id] = ("mapping", listing_id, revision)
        return found

    def _set_event(
        self, owner: tuple[str, str], slot: Slot, value: Wanted, before: Accepted | None, on: tuple[str, str, int]
    ) -> Event:
        data = {
            "owner": {"type": owner[0], "id": owner[1]},
            "name": slot[0],
            "line": slot[1] or None,
            "value": document_of(value.value),
            "by": value.by,
            "evidence": evidence_of(self._cursor.stream.tenant_id, value.support),
        }
        revision = 1 if before is None else before.revision + 1
        return Event("attribute.set", "attribute", attribute_id(owner[1], *slot), revision, data, (on,), value.support)

    def _cleared_event(self, owner: tuple[str, str], slot: Slot, before: Accepted, reason: str) -> Event:
        data = {
            "owner": {"type": owner[0], "id": owner[1]},
            "name": slot[0],
            "line": slot[1] or None,
            "reason": reason,
        }
        return Event("attribute.cleared", "attribute", attribute_id(owner[1], *slot), before.revision + 1, data)

    def _row(self, owner: tuple[str, str], slot: Slot, revision: int, value: Wanted | None) -> dict[str, object]:
        return {
            **self._scope,
            "owner_type": owner[0],
            "owner_id": owner[1],
            "name": slot[0],
            "line": slot[1],
            "attribute_id": attribute_id(owner[1], *slot),
            "value": value.value if value else None,
            "by": value.by if value else None,
            "revision": revision,
        }

    async def _change(self, events: list[Event]) -> None:
        """Write changes, their supports and their outbox rows at the next positions."""
        changes: list[dict[str, object]] = []
        supports: list[dict[str, object]] = []
        outbox: list[dict[str, object]] = []
        for event in events:
            event_id = uuid7()
            value = event_bytes(event, event_id, self.decision_id, self._cursor)
            self._cursor.take(event_id, value)
            place = {
                **self._scope,
                "history_epoch": self._cursor.stream.history_epoch,
                "position": self._cursor.position,
                "event_id": event_id,
            }
            aggregate = {"aggregate": event.aggregate, "id": event.id, "revision": event.revision}
            decided = {"decision_id": self.decision_id, "type": event.type, "data": canonical(event.data)}
            changes.append({**place, **aggregate, **decided})
            outbox.append({**place, "value": value})
            supports += [
                {**self._scope, **aggregate, "reading_id": fact.reading_id, "n": fact.n}
                for fact in dict.fromkeys(event.support)
            ]
        async with self._conn.cursor() as many:
            await many.executemany(_DECISION["insert_change"], changes)
            await many.executemany(_DECISION["insert_support"], supports)
            await many.executemany(_DECISION["insert_outbox"], outbox)


def mapping_support(reading: Reading, via: Via) -> tuple[Fact, ...]:
    """The facts that a mapping rests on: those of the deciding key, else what names the thing."""
    names = {"gtin": ("gtin",), "brand_mpn": ("brand", "mpn")}.get(via, ("name", "gtin", "sku", "url"))
    named = tuple(fact for name in names if (fact := reading.first(name)) is not None)
    return named or reading.facts[:1]


def _standing(before: Accepted | None) -> tuple[str, str] | None:
    return None if before is None or before.value is None or before.by is None else (before.value, before.by)


def _values(rows: Iterable[Accepted], owner: str) -> dict[str, str]:
    return {row.name: row.value for row in rows if row.owner_id == owner and row.value is not None}


def _slot_of(row: Accepted) -> tuple[str, str, Slot]:
    return (row.owner_type, row.owner_id, (row.name, row.line))


def _cleared_reason(before: Accepted, listing: Listing | None) -> str:
    if listing is None:
        return "person" if before.by == "person" else "unsupported"
    if listing.item_id is None:
        return "unmapped"
    return {"gone": "gone", "replaced": "replaced"}.get(listing.state, "unsupported")
