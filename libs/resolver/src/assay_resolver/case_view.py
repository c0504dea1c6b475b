"""⑤ The questions that rules leave to people, as people see them, and what changed since they looked."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from assay_contracts.timestamps import timestamp
from assay_runtime import sql

from assay_resolver import facts, verdicts
from assay_resolver.errors import UnknownCase
from assay_resolver.reading import Fact, document_of
from assay_resolver.streams import Connection, Stream

_CASE = sql.load("assay_resolver", "review_case")


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


async def list_cases(
    conn: Connection, stream: Stream, state: str = "open", after: str = "", limit: int = 50
) -> tuple[CaseRow, ...]:
    """A page of a catalog's cases, oldest first, after the case id `after`."""
    rows = await conn.execute(_CASE["list_cases"], {**stream.scope, "state": state, "after": after, "limit": limit})
    return tuple(CaseRow(*row) for row in await rows.fetchall())


async def find_case(conn: Connection, stream: Stream, case_id: str) -> CaseRow:
    """One case as it stands; UnknownCase if there is none."""
    row = await (await conn.execute(_CASE["find_case"], {**stream.scope, "case_id": case_id})).fetchone()
    if row is None:
        raise UnknownCase
    return CaseRow(*row)


async def candidates_of(conn: Connection, stream: Stream, case_id: str) -> tuple[str, ...]:
    """The items that a case names, each as the root that it now leads to."""
    rows = await conn.execute(_CASE["refs_of_case"], {**stream.scope, "case_id": case_id})
    named = [id_ for kind, id_ in await rows.fetchall() if kind == "item"]
    leads = await facts.roots_of_items(conn, stream, named, {})
    return tuple(dict.fromkeys(leads[item] for item in named))


async def show_case(conn: Connection, stream: Stream, case_id: str) -> dict[str, object]:
    """A case with the listing's facts beside each candidate's accepted values. UnknownCase if there is none."""
    row = await find_case(conn, stream, case_id)
    listing = (await facts.listings(conn, stream, [row.subject]))[row.subject]
    reading = (await facts.readings(conn, stream, [row.reading_id]))[row.reading_id]
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
        "candidates": await _candidates(conn, stream, row),
    }


async def show_conflict(conn: Connection, stream: Stream, case_id: str, seen: int) -> dict[str, object]:
    """A case as it stands, with what raised its revision since somebody saw revision `seen`."""
    rows = await conn.execute(_CASE["revisions_after"], {**stream.scope, "case_id": case_id, "after": seen})
    changes = list(_steps(await rows.fetchall()))
    return {**await show_case(conn, stream, case_id), "changes": changes}


def _steps(rows: Iterable[tuple[object, ...]]) -> Iterable[Mapping[str, object]]:
    steps: dict[object, dict[str, object]] = {}
    names = ("aggregate", "id", "revision", "type", "position")
    for revision, state, reading_id, decision_id, action, actor, rationale, decided_at, *change in rows:
        step = steps.setdefault(revision, {"revision": revision, "state": state, "reading_id": reading_id})
        if decision_id is not None:
            decided = {"decision_id": decision_id, "action": action, "actor": actor, "rationale": rationale}
            assert isinstance(decided_at, datetime)
            step["decision"] = {**decided, "decided_at": timestamp(decided_at)}
        events = step.setdefault("events", [])
        if change[0] is not None and isinstance(events, list):
            events.append(dict(zip(names, change, strict=True)))  # pyright: ignore[reportUnknownMemberType]  # made here
    return steps.values()


async def _candidates(conn: Connection, stream: Stream, row: CaseRow) -> list[dict[str, object]]:
    found = await conn.execute(_CASE["candidates_of"], {**stream.scope, "reading_id": row.reading_id})
    scored = {one[0]: one for one in await found.fetchall()}
    items = await candidates_of(conn, stream, row.case_id)
    values = await facts.accepted(conn, stream, items)
    shown: list[dict[str, object]] = []
    for item in items:
        score = scored.get(item)
        tree = await verdicts.tree(conn, stream, item)
        standing = await verdicts.between(conn, stream, [row.subject], tree)
        shown.append(
            {
                "item_id": item,
                "score": score and score[1],
                "features": score and document_of(score[2]),
                "attributes": {
                    value.name: document_of(value.value)
                    for value in values
                    if value.owner_id == item and value.value is not None
                },
                "verdicts": [one.shown() for one in standing],
            }
        )
    return shown


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
