"""⑤ What people decide about cases: each answer once, at the revision that was looked at."""

from collections.abc import Collection
from dataclasses import dataclass

from assay_resolver import case_view, facts, placing, questions, rules, speaking, streams, verdicts
from assay_resolver.decisions import Decided, Request, Writer, first_result
from assay_resolver.errors import CaseConflict, Forgotten, NotACandidate, NotThatKind, UnknownItem, WrongKey
from assay_resolver.identity import Accept, Create, Doubt, Key, exact, heard, keys_of
from assay_resolver.placing import derive_keys
from assay_resolver.reading import Document, Listing, Reading
from assay_resolver.streams import Connection, Cursor, Stream


@dataclass(frozen=True, slots=True)
class CaseRequest:
    """An answer to a case, as it stood at `expected_revision`.

    overrules: the decisions of verdicts that stand in the way of the answer, named so that they stand no longer.
    """

    stream: Stream
    case_id: str
    expected_revision: int
    request_id: str
    actor: str
    rationale: str
    overrules: tuple[str, ...] = ()

    def deciding(self, action: str, item_id: str | None, prior: tuple[str, ...] = ()) -> Request:
        """The decision that it asks for."""
        basis = {"case": self.case_id, "revision": self.expected_revision, "item": item_id}
        return Request(f"req:{self.request_id}", action, self.actor, self.rationale, basis, prior)


@dataclass(frozen=True, slots=True)
class _Opened:
    """A case that is being decided: its cursor is held, its listing locked, its revision taken."""

    cursor: Cursor
    writer: Writer
    listing: Listing
    reading: Reading
    items: tuple[str, ...]


async def accept(conn: Connection, request: CaseRequest, item_id: str) -> Decided:
    """The listing is this item, one of those that the case shows."""
    opened = await _open(conn, request, request.deciding("person.accept", item_id))
    if isinstance(opened, Decided):
        return opened
    await _check_candidate(conn, request.stream, opened, item_id)
    await _overrule(conn, request, opened, item_id)
    return await _map(conn, opened, item_id)


async def merge(conn: Connection, request: CaseRequest, into: str) -> Decided:
    """The items whose keys collide are one: all become `into`, and the listing is it."""
    opened = await _open(conn, request, request.deciding("person.merge", into))
    if isinstance(opened, Decided):
        return opened
    await _check_candidate(conn, request.stream, opened, into)
    others = [item for item in opened.items if item != into]
    if not others:
        raise NotThatKind
    states = await facts.item_states(conn, request.stream, opened.items)
    trees = {item: await verdicts.tree(conn, request.stream, item) for item in opened.items}
    for item in others:
        await _withdraw_between(conn, request, opened, trees[item], trees[into])
        placing.merge_item(opened.writer, states[item], states[into])
    await _overrule(conn, request, opened, into)
    moved = await placing.reroot(opened.writer, others)
    await derive_keys(opened.writer, await facts.exact_keys_of_listings(conn, request.stream, moved))
    return await _map(conn, opened, into)


async def create_item(conn: Connection, request: CaseRequest) -> Decided:
    """The listing is none of the candidates: a new item, and a verdict against each of them."""
    opened = await _open(conn, request, request.deciding("person.create", None))
    if isinstance(opened, Decided):
        return opened
    for item_id in opened.items:
        await verdicts.differ(opened.writer, opened.listing.listing_id, item_id)
    return await _map(conn, opened, await placing.create_item(opened.writer, opened.listing))


async def reject(conn: Connection, request: CaseRequest) -> Decided:
    """The listing is not to be in the catalog; it stays out until it states an exact key that it never had."""
    opened = await _open(conn, request, request.deciding("person.reject", None))
    if isinstance(opened, Decided):
        return opened
    listing = opened.listing
    await placing.clear_mapping(opened.writer, listing, "rejected")
    await questions.withdraw(opened.writer, listing.listing_id)
    await speaking.decide(opened.writer, listing, listing.reading, "rejected")
    await derive_keys(opened.writer, keys_of(listing.reading))
    return await opened.writer.finish()


async def call_key_wrong(conn: Connection, request: CaseRequest, key: Key) -> Decided:
    """The page states a key that is not the thing's: it counts no longer, and the listing is judged without it."""
    opened = await _open(conn, request, request.deciding("person.key_is_wrong", key.name))
    if isinstance(opened, Decided):
        return opened
    stream, listing = request.stream, opened.listing
    if key not in exact(keys_of(opened.reading)):
        raise WrongKey
    await verdicts.differ(opened.writer, listing.listing_id, key.name)
    keys = keys_of(opened.reading) | keys_of(listing.reading)
    heard_listing = (await facts.listings(conn, stream, [listing.listing_id]))[listing.listing_id]
    speaks = await _let_speak(opened.writer, heard_listing, opened.reading)
    await questions.withdraw(opened.writer, listing.listing_id)
    if speaks.item_id is None:
        await _place(conn, opened, speaks)
    opened.writer.touch(speaks)
    await derive_keys(opened.writer, keys)
    await rules.rerun(opened.writer, keys)
    return await opened.writer.finish()


async def withdraw(conn: Connection, request: CaseRequest) -> Decided:
    """The question is none; it may be asked again. Forgotten if nothing else would ask about the listing."""
    opened = await _open(conn, request, request.deciding("person.withdraw", None), questions.WITHDRAWN)
    if isinstance(opened, Decided):
        return opened
    listing = opened.listing
    others = await questions.open_reasons(conn, request.stream, listing.listing_id)
    if listing.item_id is None and listing.state == "open" and not others:
        raise Forgotten
    return await opened.writer.finish()


async def reopen(conn: Connection, request: CaseRequest) -> Decided:
    """Ask a withdrawn question again. What was decided is reopened by undoing its decision."""
    stream, deciding = request.stream, request.deciding("person.reopen", None)
    cursor = await streams.lock(conn, stream)
    first = await first_result(conn, stream, deciding)
    if first is not None:
        return first
    row = await case_view.find_case(conn, stream, request.case_id)
    if row.state == "decided":
        raise NotThatKind
    await speaking.lock(conn, stream, [row.subject])
    writer = Writer(conn, cursor, deciding)
    await writer.begin(())
    seen = row.state == "withdrawn" and row.revision == request.expected_revision
    if not seen or not await questions.reopen(writer, request.case_id, questions.WITHDRAWN):
        raise CaseConflict(await case_view.show_conflict(conn, stream, request.case_id, request.expected_revision))
    return await writer.finish()


async def _open(
    conn: Connection, request: CaseRequest, deciding: Request, after: Document = questions.DECIDED
) -> _Opened | Decided:
    """Under the cursor: lock the listing, then take the case at the revision that the reviewer saw."""
    stream = request.stream
    cursor = await streams.lock(conn, stream)
    first = await first_result(conn, stream, deciding)
    if first is not None:
        return first
    row = await case_view.find_case(conn, stream, request.case_id)
    listing = (await speaking.lock(conn, stream, [row.subject]))[row.subject]
    reading = (await facts.readings(conn, stream, [row.reading_id]))[row.reading_id]
    reading = heard(reading, [Key.named(name) for name in listing.wrong])
    writer = Writer(conn, cursor, deciding)
    await writer.begin(reading.facts)
    if not await questions.close(writer, request.case_id, request.expected_revision, after):
        raise CaseConflict(await case_view.show_conflict(conn, stream, request.case_id, request.expected_revision))
    items = await case_view.candidates_of(conn, stream, request.case_id)
    return _Opened(cursor, writer, listing, reading, items)


async def _check_candidate(conn: Connection, stream: Stream, opened: _Opened, item_id: str) -> None:
    if item_id not in opened.items:
        raise NotACandidate
    state, _ = (await facts.item_revisions(conn, stream, [item_id])).get(item_id, ("unknown", 0))
    if state != "active":
        raise UnknownItem


async def _overrule(conn: Connection, request: CaseRequest, opened: _Opened, item_id: str) -> None:
    """VerdictStands unless the answer names every verdict between the listing and the item."""
    tree = await verdicts.tree(conn, request.stream, item_id)
    await _withdraw_between(conn, request, opened, [opened.listing.listing_id], tree)


async def _withdraw_between(
    conn: Connection, request: CaseRequest, opened: _Opened, one: Collection[str], other: Collection[str]
) -> None:
    standing = await verdicts.between(conn, request.stream, one, other)
    verdicts.check_overruled(standing, request.overrules)
    for verdict in standing:
        await verdicts.withdraw(opened.writer, *verdict.pair)


async def _map(conn: Connection, opened: _Opened, item_id: str) -> Decided:
    """Let the listing speak by the reading that was asked about, and be the item."""
    writer, listing = opened.writer, opened.listing
    spoke = await _let_speak(writer, listing, opened.reading)
    await placing.map_listing(writer, spoke, item_id, "person")
    await placing.check_room(writer, [item_id])
    await questions.withdraw(writer, listing.listing_id)
    keys = keys_of(spoke.reading) | keys_of(listing.reading)
    await derive_keys(writer, keys)
    await rules.rerun(writer, keys)
    return await writer.finish()


async def _let_speak(writer: Writer, listing: Listing, asked_about: Reading) -> Listing:
    """Let the listing speak by the reading that was asked about, unless it speaks by a later one.

    What is gone stays gone, unless the page was seen later.
    """
    later = max(asked_about, listing.reading, key=lambda reading: reading.order)
    still_gone = listing.state == "gone" and (later is listing.reading or later.order < listing.looked)
    return await speaking.decide(writer, listing, later, "gone" if still_gone else "open")


async def _place(conn: Connection, opened: _Opened, listing: Listing) -> None:
    """Find the place of a listing that is judged anew."""
    match await rules.judge_listing(conn, opened.cursor.stream, listing):
        case Accept(item_id, via):
            await placing.map_listing(opened.writer, listing, item_id, via)
        case Create():
            item_id = await placing.create_item(opened.writer, listing)
            await placing.map_listing(opened.writer, listing, item_id, "new")
        case Doubt() as doubt:
            decision_id = opened.writer.decision_id
            await questions.ask(conn, opened.cursor, listing, listing.reading, doubt, decision_id)
