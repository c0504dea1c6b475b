"""④→⑤ The automatic rule: what a capture's readings mean for the catalog, decided under the stream's cursor.

The identity stage calls `resolve_capture` in the transaction that also ends its job; the capture and the job are
locked already, so the order of locks holds: capture, job, cursor, listing, case.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import replace as with_changes
from typing import Final, Literal

from assay_contracts.ids import new_id
from assay_runtime import sql

from assay_resolver import facts, identity, placing, questions, registry, speaking, streams
from assay_resolver.decisions import Decided, Request, Writer
from assay_resolver.identity import Accept, Create, Doubt, Judgement, Key, exact, gtins, heard, judge, keys_of, veto_of
from assay_resolver.placing import MAX_LISTINGS, derive_keys
from assay_resolver.reading import Listing, ListingState, Order, Reading
from assay_resolver.streams import Connection, Cursor, Stream

ACTOR = "rule:identity"
MAX_RERUN: Final = 40
"""Listings that a decision takes in: the others are judged again at the next look at their pages."""
COLLISION: Final = "collision"

Outcome = Literal["created", "mapped", "changed", "unchanged", "kept", "case", "gone", "nothing"]

_LISTING = sql.load("assay_resolver", "listing")
_READING = sql.load("assay_resolver", "reading")
_WEIGHT: Final[tuple[Outcome, ...]] = ("case", "created", "mapped", "changed", "gone", "unchanged", "kept", "nothing")
"""Of several readings in one capture, the outcome that a person would want to hear of first."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """What came of a capture, and the decisions that it led to."""

    outcome: Outcome
    decisions: tuple[Decided, ...] = ()


@dataclass(frozen=True, slots=True)
class _Act:
    """The rule at work on one reading: its connection, the locked stream, and the request that it answers.

    state: of a listing that speaks by the reading.
    """

    conn: Connection
    cursor: Cursor
    reading: Reading
    request_id: str
    state: ListingState = "open"

    @property
    def stream(self) -> Stream:
        return self.cursor.stream

    def writer(self, action: str, rationale: str) -> Writer:
        basis = {"reading": self.reading.reading_id, "model": identity.MODEL, "registry": registry.VERSION}
        return Writer(self.conn, self.cursor, Request(self.request_id, action, ACTOR, rationale, basis))


async def resolve_capture(
    conn: Connection, stream: Stream, capture_id: str, attempt_group: int, job_id: str, *, gone: str | None = None
) -> Resolved:
    """Decide each reading of a capture. Shapes: ids as in the job; runs in the caller's transaction, never commits.

    `gone` is the listing key of a page that its source no longer has (404 or 410).
    """
    cursor = await streams.lock(conn, stream)
    readings = await facts.readings_of_capture(conn, stream, capture_id, attempt_group)
    stating = [reading for reading in readings if reading.facts]
    if not stating:
        return (
            Resolved("nothing")
            if gone is None
            else await _page_gone(conn, cursor, (capture_id, attempt_group), gone, job_id)
        )
    results = [
        await _resolve(_Act(conn, cursor, reading, f"{job_id}#{number}")) for number, reading in enumerate(stating)
    ]
    outcomes: set[Outcome] = {result.outcome for result in results}
    outcome: Outcome = next(one for one in _WEIGHT if one in outcomes)
    return Resolved(outcome, tuple(decided for result in results for decided in result.decisions))


async def _page_gone(conn: Connection, cursor: Cursor, look: tuple[str, int], key: str, job_id: str) -> Resolved:
    """A page that is gone takes its offers with it, unless a later look saw the page."""
    capture_id, attempt_group = look
    rows = await conn.execute(_READING["look_of_capture"], {**cursor.stream.scope, "capture_id": capture_id})
    seen = await rows.fetchone()
    assert seen is not None
    source_id, observed_at, received_at, receipt_id = seen
    order: Order = (observed_at, received_at, receipt_id, attempt_group)
    listing = await _latest(conn, cursor.stream, source_id, key)
    if listing is None:
        return Resolved("nothing")
    if order <= listing.looked:
        return Resolved("kept")
    await speaking.look(conn, cursor.stream, listing, order)
    if listing.state != "open":
        return Resolved("nothing")
    parameters = {**cursor.stream.scope, "listing_id": listing.listing_id, "state": "gone"}
    await conn.execute(_LISTING["set_state"], parameters)
    if listing.item_id is None:
        return Resolved("gone")
    basis = {"capture": capture_id}
    writer = Writer(conn, cursor, Request(f"{job_id}#gone", "rule.gone", ACTOR, "the page is gone", basis))
    await writer.begin(())
    writer.touch(listing)
    return Resolved("gone", (await writer.finish(),))


async def _resolve(act: _Act) -> Resolved:
    listing = await _latest(act.conn, act.stream, act.reading.source_id, act.reading.key)
    if listing is None:
        return await _place(act, await _new_listing(act, serial=1))
    asked = await _asked(act, listing)
    if any(act.reading.order < reading.order for reading in (listing.reading, *asked.values())):
        return Resolved("kept")
    if act.reading.order <= listing.looked:
        if act.reading.order == listing.reading.order or listing.state != "gone":
            return Resolved("kept")
        act = with_changes(act, state="gone")
    if listing.state == "rejected":
        return await _after_rejection(act, listing)
    act = with_changes(act, reading=heard(act.reading, [Key.named(name) for name in listing.wrong]))
    doubted = COLLISION in asked and asked[COLLISION].digest != act.reading.digest
    if act.reading.digest == listing.reading.digest and listing.state == act.state and not doubted:
        return await _say_again(act, listing)
    return await _recapture(act, listing)


async def _say_again(act: _Act, listing: Listing) -> Resolved:
    """The page says what it said: a listing without an item may find one that was not there before."""
    speaks = await _speak(act, listing)
    if listing.item_id is None and listing.state == "open":
        judgement = await judge_listing(act.conn, act.stream, speaks)
        if isinstance(judgement, Accept):
            return await _accept(act, speaks, judgement)
    return Resolved("unchanged")


async def _asked(act: _Act, listing: Listing) -> dict[str, Reading]:
    """What a person is asked about the listing, by kind of case."""
    asked = await questions.asked_readings(act.conn, act.stream, listing.listing_id)
    readings = await facts.readings(act.conn, act.stream, set(asked.values())) if asked else {}
    return {kind: readings[reading_id] for kind, reading_id in asked.items()}


async def _after_rejection(act: _Act, listing: Listing) -> Resolved:
    """A rejected thing stays out until it states an exact key that it never had."""
    new = exact(keys_of(heard(act.reading, [Key.named(name) for name in listing.wrong])))
    new -= exact(await facts.listing_keys(act.conn, act.stream, listing.listing_id))
    if new:
        ever = await questions.ever_asked_readings(act.conn, act.stream, listing.listing_id)
        for reading in (await facts.readings(act.conn, act.stream, ever)).values():
            new -= exact(keys_of(reading))
    if not new:
        await speaking.look(act.conn, act.stream, listing, act.reading.order)
        return Resolved("kept")
    return await _place(act, await _new_listing(act, serial=listing.serial + 1))


async def _recapture(act: _Act, listing: Listing) -> Resolved:
    """A later page of a known listing: another gtin is a question, anything else is what it now says."""
    before, after = gtins(keys_of(listing.reading)), gtins(keys_of(act.reading))
    if before and after and not before & after:
        items = () if listing.item_id is None else (listing.item_id,)
        await questions.ask(
            act.conn, act.cursor, listing, act.reading, Doubt(COLLISION, "page_states_another_gtin", items)
        )
        await speaking.look(act.conn, act.stream, listing, act.reading.order)
        return Resolved("case")
    keys = await facts.listing_keys(act.conn, act.stream, listing.listing_id)
    speaks = await _speak(act, listing)
    if listing.item_id is None:
        return await _let_doubt_go(act, speaks, await _place(act, speaks))
    writer = act.writer("rule.recapture", "the source states something else")
    await writer.begin(act.reading.facts)
    writer.touch(speaks)
    await derive_keys(writer, keys | keys_of(act.reading))
    decided = await _finish(act, writer, keys_of(act.reading))
    await _question_a_veto(act, speaks)
    resolved = Resolved("changed" if decided.events else "unchanged", (decided,))
    return await _let_doubt_go(act, speaks, resolved)


async def _let_doubt_go(act: _Act, listing: Listing, resolved: Resolved) -> Resolved:
    """A collision that an earlier page raised and this one does not is no question any more."""
    asked = await questions.asked_readings(act.conn, act.stream, listing.listing_id)
    if asked.get(COLLISION, act.reading.reading_id) == act.reading.reading_id:
        return resolved
    again = with_changes(act, request_id=f"{act.request_id}#doubt")
    writer = again.writer("rule.withdraw", "the page does not say any more what was asked about")
    await writer.begin(())
    await questions.withdraw(writer, listing.listing_id, asked[COLLISION])
    return Resolved(resolved.outcome, (*resolved.decisions, await writer.finish()))


async def _question_a_veto(act: _Act, listing: Listing) -> None:
    """A mapped listing stays where it is; what now speaks against it is a question."""
    assert listing.item_id is not None
    known = await facts.candidates(act.conn, act.stream, [listing.item_id], listing.listing_id)
    veto = veto_of(act.reading, known[listing.item_id], None)
    if veto is not None:
        doubt = Doubt(COLLISION, veto, (listing.item_id,))
        await questions.ask(act.conn, act.cursor, listing, act.reading, doubt)


async def _place(act: _Act, listing: Listing) -> Resolved:
    """Find the item of an unmapped listing; what a person took out of an item makes none by rule."""
    judgement = await judge_listing(act.conn, act.stream, listing)
    if isinstance(judgement, Create):
        reasons = await questions.open_reasons(act.conn, act.stream, listing.listing_id)
        if questions.UNDONE in reasons.values():
            judgement = Doubt("match", questions.UNDONE, ())
    if isinstance(judgement, Doubt):
        await questions.ask(act.conn, act.cursor, listing, act.reading, judgement)
        return Resolved("case")
    return await _accept(act, listing, judgement)


async def _accept(act: _Act, listing: Listing, judgement: Accept | Create) -> Resolved:
    match judgement:
        case Create():
            writer = act.writer("rule.create", "no item has its keys or is like it")
            await writer.begin(act.reading.facts)
            item_id, via = await placing.create_item(writer, listing), "new"
        case Accept(item_id, via):
            writer = act.writer("rule.map", f"its {via} leads to one item and nothing speaks against it")
            await writer.begin(act.reading.facts)
    await placing.map_listing(writer, listing, item_id, via)
    await questions.withdraw(writer, listing.listing_id)
    await derive_keys(writer, keys_of(listing.reading))
    decided = await _finish(act, writer, keys_of(listing.reading))
    return Resolved("created" if via == "new" else "mapped", (decided,))


async def _finish(act: _Act, writer: Writer, keys: Iterable[Key]) -> Decided:
    await rerun(writer, keys)
    return await writer.finish()


async def judge_listing(conn: Connection, stream: Stream, listing: Listing) -> Judgement:
    """What the rule thinks of a listing as it speaks now."""
    keys = keys_of(listing.reading)
    roots = await facts.roots(conn, stream, exact(keys))
    led = {item for item in roots.values() if item is not None}
    blocked = await facts.items_in_blocks(conn, stream, keys)
    known = await facts.candidates(conn, stream, led | set(blocked), listing.listing_id)
    judgement = judge(listing.reading, roots, known)
    if isinstance(judgement, Accept):
        full = await facts.items_with_more_listings(conn, stream, [judgement.item_id], MAX_LISTINGS - 1)
        return Doubt(COLLISION, "item_is_full", (judgement.item_id,)) if full else judgement
    return judgement


async def rerun(writer: Writer, keys: Iterable[Key]) -> None:
    """Unmapped listings that state one of these keys, at most MAX_RERUN, take the place that it now leads to."""
    columns = facts.columns(exact(keys))
    rows = await writer.conn.execute(_LISTING["unmapped_with_keys"], {**writer.scope, **columns, "limit": MAX_RERUN})
    for (listing_id,) in await rows.fetchall():
        listing = await _listing(writer.conn, writer.stream, listing_id)
        judgement = await judge_listing(writer.conn, writer.stream, listing)
        if isinstance(judgement, Accept):
            await placing.map_listing(writer, listing, judgement.item_id, judgement.via)
            await questions.withdraw(writer, listing_id)
            await derive_keys(writer, keys_of(listing.reading))


async def _latest(conn: Connection, stream: Stream, source_id: str, key: str) -> Listing | None:
    row = await (
        await conn.execute(_LISTING["lock_latest"], {**stream.scope, "source_id": source_id, "key": key})
    ).fetchone()
    return None if row is None else await _listing(conn, stream, row[0])


async def _listing(conn: Connection, stream: Stream, listing_id: str) -> Listing:
    return (await facts.listings(conn, stream, [listing_id]))[listing_id]


async def _new_listing(act: _Act, serial: int) -> Listing:
    reading = act.reading
    listing_id = new_id("lst")
    await act.conn.execute(
        _LISTING["insert_listing"],
        {
            **act.stream.scope,
            "listing_id": listing_id,
            "source_id": reading.source_id,
            "key": reading.key,
            "serial": serial,
            "url": reading.url,
            "reading_id": reading.reading_id,
        },
    )
    await speaking.replace_keys(act.conn, act.stream, listing_id, keys_of(reading))
    return await _listing(act.conn, act.stream, listing_id)


async def _speak(act: _Act, listing: Listing) -> Listing:
    """Let the listing speak by the act's reading, in the act's state: open again if this is the latest look."""
    await speaking.speak_by(act.conn, act.stream, listing, act.reading, act.state)
    return with_changes(listing, reading=act.reading, url=act.reading.url, state=act.state)
