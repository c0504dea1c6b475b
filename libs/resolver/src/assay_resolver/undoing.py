"""⑤ Undo: a new decision that withdraws what an earlier one asserted, wherever that still stands.

What others decided since stays. Homes under an item that was merged return with it, at any depth; a new item that is
left empty is retired; a listing that is left without an item becomes a question, and a verdict keeps rules from
answering it as before. An undo has parts like any decision, so it can be undone too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay_runtime import sql

from assay_resolver import (
    facts,
    mappings,
    parts,
    pins,
    placing,
    questions,
    registry,
    speaking,
    standing,
    streams,
    verdicts,
)
from assay_resolver.decisions import Asked, Decided, Writer, first_result
from assay_resolver.errors import NothingToUndo, UndoConflict, UnknownDecision
from assay_resolver.identity import Key
from assay_resolver.parts import Kind, Part
from assay_resolver.placing import derive_keys
from assay_resolver.reading import canonical, document_of
from assay_resolver.standing import Now, pair_of
from assay_resolver.streams import Connection, Stream

_DECISION = sql.load("assay_resolver", "decision")


@dataclass(frozen=True, slots=True)
class _Undo:
    """An undo at work: the parts that it withdraws, and how they stood when it began."""

    writer: Writer
    parts: Sequence[Part]
    now: Now

    @property
    def conn(self) -> Connection:
        return self.writer.conn

    @property
    def stream(self) -> Stream:
        return self.writer.stream

    def of(self, kind: Kind) -> list[Part]:
        """Its parts of one kind."""
        return [one for one in self.parts if one.kind == kind]


async def undo(conn: Connection, asked: Asked, decision_id: str, *, partial: bool = False) -> Decided:
    """Withdraw each part of a decision that is still as it left it.

    UndoConflict with the others, if there are any and `partial` does not say to leave them; UnknownDecision;
    NothingToUndo.
    """
    stream = asked.stream
    deciding = asked.deciding("person.undo", {"decision": decision_id, "partial": partial})
    cursor = await streams.lock(conn, stream)
    first = await first_result(conn, stream, deciding)
    if first is not None:
        return first
    held, now = await _held(conn, stream, decision_id, partial)
    writer = Writer(conn, cursor, deciding.undoing(decision_id))
    await writer.begin(())
    return await _withdraw(_Undo(writer, held, now))


async def _held(conn: Connection, stream: Stream, decision_id: str, partial: bool) -> tuple[list[Part], Now]:
    parameters = {**stream.scope, "decision_id": decision_id}
    if await (await conn.execute(_DECISION["show_decision"], parameters)).fetchone() is None:
        raise UnknownDecision
    every = await parts.of_decision(conn, stream, decision_id)
    if not every:
        raise NothingToUndo
    now = await standing.look(conn, stream, every)
    held = [one for one in every if standing.stands(one, now)]
    matter = [one for one in every if standing.matters(one)] or every
    missing = [one for one in matter if one not in held]
    if missing and not (partial and any(one in held for one in matter)):
        raise UndoConflict(await standing.conflicts(conn, stream, decision_id, missing, now))
    return held, now


async def _withdraw(undo: _Undo) -> Decided:
    writer, named = undo.writer, _listings_of(undo.parts)
    keys = await facts.exact_keys_of_listings(undo.conn, undo.stream, named)
    guarded = await _guarded(undo)
    left = await _open_items(undo)
    await _return_listings(undo)
    roots = [*left, *await _end_items(undo)]
    await _withdraw_verdicts(undo)
    await _withdraw_pins(undo)
    moved = await placing.reroot(writer, roots)
    await _retire_empty(undo)
    await _ask_again(undo)
    after = await facts.exact_keys_of_listings(undo.conn, undo.stream, [*named, *moved])
    await derive_keys(writer, keys | after | _keys_in_verdicts(undo.of("verdict")))
    return await writer.finish(guarded)


def _listings_of(parts_: Iterable[Part]) -> list[str]:
    found = {one.id for one in parts_ if one.kind in ("mapping", "listing")}
    found |= {id_ for one in parts_ if one.kind == "verdict" for id_ in pair_of(one) if id_.startswith("lst_")}
    return sorted(found)


def _keys_in_verdicts(parts_: Iterable[Part]) -> frozenset[Key]:
    return frozenset(Key.named(pair_of(one)[0]) for one in parts_ if ":" in pair_of(one)[0])


async def _guarded(undo: _Undo) -> dict[tuple[str, str], str]:
    """What guarded attributes were before the decision, where they still are what it made them."""
    names = [one.name for one in registry.ITEM.values() if one.guarded]
    parameters = {**undo.stream.scope, "decision_id": undo.writer.request.undoes, "names": names}
    rows = await undo.conn.execute(_DECISION["guarded_before"], parameters)
    found: dict[tuple[str, str], str] = {}
    for owner, name, accepted, made, before in await rows.fetchall():
        if accepted == _value_in(made) and _value_in(before) is not None:
            found[owner, name] = str(_value_in(before))
    return found


def _value_in(data: str) -> str | None:
    value = document_of(data).get("value")
    return canonical(value) if isinstance(value, dict) else None  # pyright: ignore[reportUnknownArgumentType]  # JSON


async def _open_items(undo: _Undo) -> list[str]:
    """Items that are roots or shown again; the roots whose mappings have to be looked at."""
    left: list[str] = []
    for part in undo.of("item"):
        item, before = undo.now.items[part.id], part.before
        if item.state == "merged":
            left.append(item.root)
            await placing.open_item(undo.writer, item, "unmerged")
            await verdicts.differ(undo.writer, item.item_id, str(item.merged_into))
        elif item.state == "retired" and before == placing.ACTIVE:
            await placing.open_item(undo.writer, item, "revived")
    return left


async def _end_items(undo: _Undo) -> list[str]:
    """Items that are merged or hidden again; those that are merged."""
    wanted = {one.id: one.before for one in undo.of("item") if one.before not in (None, placing.ACTIVE)}
    into = {str(before["into"]) for before in wanted.values() if before and "into" in before}
    states = await facts.item_states(undo.conn, undo.stream, {*wanted, *into})
    merged: list[str] = []
    for item_id, before in wanted.items():
        assert before is not None
        if before["state"] == "merged":
            placing.merge_item(undo.writer, states[item_id], states[str(before["into"])])
            merged.append(item_id)
        else:
            placing.retire_item(undo.writer, states[item_id], str(before["reason"]))
    return merged


async def _return_listings(undo: _Undo) -> None:
    """Let listings speak as before, unless their source has spoken since, and be what they were."""
    for part in undo.of("listing"):
        before, listing = part.before or {}, undo.now.listings[part.id]
        readings = await facts.readings(undo.conn, undo.stream, [str(before["reading_id"])])
        spoken = speaking.listing_of(listing)["reading_id"] == (part.after or {})["reading_id"]
        reading = readings[str(before["reading_id"])] if spoken else listing.reading
        state = before["state"] if listing.state == (part.after or {})["state"] else listing.state
        await speaking.decide(undo.writer, listing, reading, speaking.state_of(state))
    held = await facts.listings(undo.conn, undo.stream, [one.id for one in undo.of("mapping")])
    for part in undo.of("mapping"):
        if part.before is None:
            await placing.clear_mapping(undo.writer, held[part.id], "undone")
        else:
            revision = int(str(part.before["revision"]))
            await placing.restore_mapping(undo.writer, held[part.id], str(part.before["home"]), revision)


async def _withdraw_verdicts(undo: _Undo) -> None:
    for part in undo.of("verdict"):
        if part.after is None:
            await verdicts.differ(undo.writer, *pair_of(part))
        else:
            await verdicts.withdraw(undo.writer, *pair_of(part))
    stating = [pair_of(one)[1] for one in undo.of("verdict") if ":" in pair_of(one)[0]]
    await mappings.hear_anew(undo.writer, stating)


async def _withdraw_pins(undo: _Undo) -> None:
    for part in undo.of("pin"):
        item_id, name = part.id.split("/")
        await pins.put(undo.writer, item_id, name, undo.now.pins[part.id], part.before)


async def _retire_empty(undo: _Undo) -> None:
    """An item that the decision made is retired, unless something has become part of it since."""
    made = [one.id for one in undo.of("item") if one.before is None]
    states = await facts.item_states(undo.conn, undo.stream, made)
    full = {row.item_id for row in await facts.mappings_of_items(undo.conn, undo.stream, made)}
    for item_id in made:
        if item_id not in full:
            placing.retire_item(undo.writer, states[item_id], "undone")


async def _ask_again(undo: _Undo) -> None:
    """Reopen what the decision closed, close what it opened, ask about each listing that is left without an item."""
    writer = undo.writer
    returned = await facts.listings(undo.conn, undo.stream, [one.id for one in undo.of("mapping")])
    for part in undo.of("mapping"):
        if part.after is None and returned[part.id].item_id is not None:
            await questions.withdraw(writer, part.id)
    for part in undo.of("case"):
        await _turn_case(writer, part)
    gone = {one.item_id for one in writer.endings if one.state == "retired"}
    for part in undo.of("mapping"):
        listing = returned[part.id]
        if listing.item_id is None:
            home = str((part.after or {})["home"])
            await mappings.leave_open(writer, listing, home, differs=home not in gone)


async def _turn_case(writer: Writer, part: Part) -> None:
    before, after = part.before, part.after or {}
    if before == questions.OPEN:
        await questions.reopen(writer, part.id, after)
    elif after == questions.OPEN:
        await questions.close_any(writer, part.id, before or questions.WITHDRAWN)
