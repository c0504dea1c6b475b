"""How far the work is: each hop of the record's path with its counts, what waits there, and for how long."""

from dataclasses import dataclass

import psycopg
from assay_runtime import sql
from psycopg.rows import TupleRow

from assay_cli.stack.installation import Installation

STAGES = ("extract", "normalize", "identity")

_HOPS = sql.load("assay_cli", "hops")


@dataclass(frozen=True, slots=True)
class Hop:
    """done: records past it; waiting: before it, the oldest for `age_seconds`; problem: what a person must look at."""

    name: str
    done: int
    waiting: int = 0
    age_seconds: float = 0.0
    problem: str = ""


def measure(place: Installation) -> list[Hop]:
    """Ask both databases, as the role that only reads; before apply wait the events that Kafka has and it lacks."""
    role = "assay_checker"
    with (
        psycopg.connect(place.database("resolver").dsn(role)) as resolver,
        psycopg.connect(place.database("product").dsn(role)) as product,
    ):
        applied, parked, halted, parked_seconds = _row(product, "count_applied")
        published, unpublished, unpublished_seconds, held = _row(resolver, "count_events")
        letters = _row(resolver, "count_dead_letters")[0] + _row(product, "count_dead_letters")[0]
        decisions, cases, case_seconds = _row(resolver, "count_decisions")
        return [
            Hop("① captures", _row(resolver, "count_captures")[0]),
            *_stages(resolver),
            Hop("⑤ decisions", decisions),
            Hop("⑥ relay", published, unpublished, unpublished_seconds, _some(held, "streams held")),
            Hop("⑦ apply", applied, max(0, published - applied), parked_seconds, _trouble(parked, halted)),
            Hop("cases", 0, cases, case_seconds),
            Hop("dead letters", letters, problem=_some(letters, "given up on")),
        ]


def is_quiet(hops: list[Hop]) -> bool:
    """Whether nothing is on its way; open cases wait for people and do not count."""
    return all(hop.waiting == 0 for hop in hops if hop.name != "cases")


def _stages(resolver: psycopg.Connection[TupleRow]) -> list[Hop]:
    rows = {row[0]: row[1:] for row in resolver.execute(_HOPS["count_jobs"])}
    hops: list[Hop] = []
    for stage in STAGES:
        done, waiting, dead, seconds = rows.get(stage, (0, 0, 0, 0.0))
        hops.append(Hop(f"④ {stage}", done, waiting, seconds, _some(dead, "dead")))
    return hops


def _row(connection: psycopg.Connection[TupleRow], name: str) -> TupleRow:
    row = connection.execute(_HOPS[name]).fetchone()
    assert row is not None
    return row


def _some(count: int, what: str) -> str:
    return f"{count} {what}" if count else ""


def _trouble(parked: int, halted: int) -> str:
    return ", ".join(part for part in (_some(parked, "parked or missing"), _some(halted, "streams halted")) if part)
