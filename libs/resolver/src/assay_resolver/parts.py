"""What a decision asserted, part by part, each with the state before and after it: what an undo goes back over."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from assay_runtime import sql

from assay_resolver.reading import Document, canonical, document_of
from assay_resolver.streams import Connection, Stream

Kind = Literal["item", "mapping", "pin", "verdict", "listing", "case"]

STANDS: Document = {"stands": True}
"""The state of a verdict that nobody has withdrawn."""

_PART = sql.load("assay_resolver", "part")


@dataclass(frozen=True, slots=True)
class Part:
    """One asserted thing; None is its absence.

    kind and id: item (its id), mapping or listing (the listing's id), pin (item/name), verdict (left right), case.
    item: {state, reason or into}; mapping: {home, revision}; pin: {reading_id, n}; verdict: {stands};
    listing: {state, reading_id}; case: {state}.
    """

    kind: Kind
    id: str
    before: Document | None
    after: Document | None

    def shown(self) -> dict[str, object]:
        """The part as an API shows it."""
        return {"kind": self.kind, "id": self.id, "before": self.before, "after": self.after}


async def store(conn: Connection, stream: Stream, decision_id: str, parts: Iterable[Part]) -> None:
    """Write a decision's parts in their order; several about one thing become one."""
    scope = {**stream.scope, "decision_id": decision_id}
    rows = [
        {**scope, "n": n, "kind": one.kind, "id": one.id, "before": _text(one.before), "after": _text(one.after)}
        for n, one in enumerate(_joined(parts))
    ]
    async with conn.cursor() as many:
        await many.executemany(_PART["insert_part"], rows)


def _joined(parts: Iterable[Part]) -> list[Part]:
    found: dict[tuple[Kind, str], Part] = {}
    for one in parts:
        first = found.get((one.kind, one.id))
        found[one.kind, one.id] = one if first is None else Part(one.kind, one.id, first.before, one.after)
    return [one for one in found.values() if one.before != one.after]


async def of_decision(conn: Connection, stream: Stream, decision_id: str) -> Sequence[Part]:
    """The parts of a decision in their order."""
    rows = await conn.execute(_PART["parts_of_decision"], {**stream.scope, "decision_id": decision_id})
    return [Part(row[0], row[1], _document(row[2]), _document(row[3])) for row in await rows.fetchall()]


def _text(document: Document | None) -> str | None:
    return None if document is None else canonical(document)


def _document(text: str | None) -> Document | None:
    return None if text is None else document_of(text)
