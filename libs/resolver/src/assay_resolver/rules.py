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
from assay_resolver.reading import Listing, Reading
from assay_resolver.streams import Connection, Cursor, Stream

ACTOR = "rule:identity"
MAX_RERUN = 100

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
    """The rule at work on one reading: its connection, the locked stream, and the request that it answers."""

    conn: Connection
    cursor: Cursor
    reading: Reading
    request_id: str

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
    speaking = [reading for reading in readings if reading.facts]
    if not speaking:
        return Resolved("nothing") if gone is None else await _page_gone(conn, cursor, capture_id, gone, job_id)
    results = [
        await _resolve(_Act(conn, cursor, reading, f"{job_id}#{number}")) for number, reading in enumerate(speaking)
    ]
    outcomes: set[Outcome] = {result.outcome for result in results}
    outcome: Outcome = next(one for one in _WEIGHT if one in outcomes)
    return Resolved(outcome, tuple(decided for result in results for decided in result.decisions))


async def _page_gone(conn: Connection, cursor: Cursor, capture_id: str, key: str, job_id: str) -> Resolved:
    """A page that is gone takes its offers with it."""
    scope = {**cursor.stream.scope, "capture_id": capture_id, "key": key}
    rows = await conn.execute(_READING["gone_listing"], scope)
    row = await rows.fetchone()
    if row is None:
        return Resolved("nothing")
    listing = await _listing(conn, cursor.stream, row[0])
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
    listing = await _latest(act)
    if listing is None:
        return await _place(act, await _new_listing(act, serial=1))
    if act.reading.order <= listing.reading.order or await _is_asked_about_later(act, listing):
        return Resolved("kept")
    if listing.state == "rejected":
        return await _after_rejection(act, listing)
    act = with_changes(act, reading=heard(act.reading, [Key.named(name) for name in listing.wrong]))
    if act.reading.digest == listing.reading.digest and listing.state == "open":
        await _speak(act, listing)
        return Resolved("unchanged")
    return await _recapture(act, listing)


async def _is_asked_about_later(act: _Act, listing: Listing) -> bool:
    """Whether a person is asked about a later look than this one, which an older page must not take away."""
    asked = await questions.asked_readings(act.conn, act.stream, listing.listing_id)
    readings = await facts.readings(act.conn, act.stream, asked) if asked else {}
    return any(act.reading.order < reading.order for reading in readings.values())


async def _after_rejection(act: _Act, listing: Listing) -> Resolved:
    """A rejected thing stays out until it states an exact key that it never had."""
    known = await facts.listing_keys(act.conn, act.stream, listing.listing_id)
    if exact(keys_of(act.reading)) <= exact(known):
        return Resolved("kept")
    return await _place(act, await _new_listing(act, serial=listing.serial + 1))


async def _recapture(act: _Act, listing: Listing) -> Resolved:
    """A later page of a known listing: another gtin is a question, anything else is what it now says."""
    before, after = gtins(keys_of(listing.reading)), gtins(keys_of(act.reading))
    if before and after and not before & after:
        items = () if listing.item_id is None else (listing.item_id,)
        await questions.ask(
            act.conn, act.cursor, listing, act.reading, Doubt("collision", "page_states_another_gtin", items)
        )
        return Resolved("case")
    keys = await facts.listing_keys(act.conn, act.stream, listing.listing_id)
    speaking = await _speak(act, listing)
    if listing.item_id is None:
        return await _place(act, speaking)
    writer = act.writer("rule.recapture", "the source states something else")
    await writer.begin(act.reading.facts)
    writer.touch(speaking)
    await derive_keys(writer, keys | keys_of(act.reading))
    decided = await _finish(act, writer, keys_of(act.reading))
    await _question_a_veto(act, speaking)
    return Resolved("changed" if decided.events else "unchanged", (decided,))


async def _question_a_veto(act: _Act, listing: Listing) -> None:
    """A mapped listing stays where it is; what now speaks against it is a question."""
    assert listing.item_id is not None
    known = await facts.candidates(act.conn, act.stream, [listing.item_id], listing.listing_id)
    veto = veto_of(act.reading, known[listing.item_id], None)
    if veto is not None:
        doubt = Doubt("collision", veto, (listing.item_id,))
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
        return Doubt("collision", "item_is_full", (judgement.item_id,)) if full else judgement
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


async def _latest(act: _Act) -> Listing | None:
    reading = act.reading
    parameters = {**act.stream.scope, "source_id": reading.source_id, "key": reading.key}
    row = await (await act.conn.execute(_LISTING["lock_latest"], parameters)).fetchone()
    return None if row is None else await _listing(act.conn, act.stream, row[0])


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
    """Let the listing speak by the act's reading, open again if it was gone."""
    await speaking.speak_by(act.conn, act.stream, listing, act.reading)
    return with_changes(listing, reading=act.reading, url=act.reading.url, state="open")
