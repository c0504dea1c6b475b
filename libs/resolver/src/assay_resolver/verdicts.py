"""⑤ A person's word that two things differ, or that a listing's key is wrong: rules obey, only persons overrule."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from assay_runtime import sql

from assay_resolver.decisions import Writer
from assay_resolver.errors import VerdictStands
from assay_resolver.parts import STANDS
from assay_resolver.streams import Connection, Stream

_VERDICT = sql.load("assay_resolver", "verdict")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Two things that differ: listing ids, item ids, or a listing and `kind:value` of its wrong key."""

    left: str
    right: str
    decision_id: str

    @property
    def pair(self) -> tuple[str, str]:
        return (self.left, self.right)

    def shown(self) -> Mapping[str, object]:
        """The verdict as an API shows it."""
        return {"left": self.left, "right": self.right, "decision_id": self.decision_id}


async def between(
    conn: Connection, stream: Stream, one: Collection[str], other: Collection[str]
) -> tuple[Verdict, ...]:
    """The verdicts that stand between two trees, each given by its items and listings."""
    parameters = {**stream.scope, "one": list(one), "other": list(other)}
    rows = await conn.execute(_VERDICT["verdicts_between"], parameters)
    return tuple(Verdict(*row) for row in await rows.fetchall())


async def tree(conn: Connection, stream: Stream, item_id: str) -> list[str]:
    """An item, the items below it, and all their listings."""
    rows = await conn.execute(_VERDICT["tree_of_item"], {**stream.scope, "item_id": item_id})
    return [row[0] for row in await rows.fetchall()]


async def find(conn: Connection, stream: Stream, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Verdict]:
    """Those of some pairs, each in order, whose verdict stands."""
    listed = list(pairs)
    parameters = {**stream.scope, "lefts": [one for one, _ in listed], "rights": [other for _, other in listed]}
    rows = await conn.execute(_VERDICT["find_verdicts"], parameters)
    return {(row[0], row[1]): Verdict(*row) for row in await rows.fetchall()}


def check_overruled(standing: Iterable[Verdict], overrules: Collection[str]) -> None:
    """VerdictStands unless the decision of each verdict is among those that the person names."""
    unnamed = [one.shown() for one in standing if one.decision_id not in overrules]
    if unnamed:
        raise VerdictStands(unnamed)


async def differ(writer: Writer, one: str, other: str) -> None:
    """Say that two things differ, unless that stands already."""
    left, right = ordered(one, other)
    if await find(writer.conn, writer.stream, [(left, right)]):
        return
    row = {**writer.scope, "left": left, "right": right, "decision_id": writer.decision_id}
    await writer.conn.execute(_VERDICT["insert_verdict"], row)
    writer.note("verdict", f"{left} {right}", None, STANDS)


async def withdraw(writer: Writer, left: str, right: str) -> None:
    """Let a verdict stand no longer."""
    row = {**writer.scope, "left": left, "right": right, "decision_id": writer.decision_id}
    await writer.conn.execute(_VERDICT["withdraw_verdict"], row)
    writer.note("verdict", f"{left} {right}", STANDS, None)


def ordered(one: str, other: str) -> tuple[str, str]:
    """A pair as it is stored: the lower first, by bytes."""
    return (one, other) if one.encode() < other.encode() else (other, one)
