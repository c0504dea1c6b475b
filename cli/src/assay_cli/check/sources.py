"""What the checker reads: both databases as the role that only reads, the topics, and the evidence bucket.

The order of looking makes every answer sound while work goes on: first how far each group of consumers has come, then
product's snapshot, then the resolver's, then the logs and the bucket. What an earlier look rests on must then be in the
later one. Where a later look shows something that the snapshot cannot know yet, a second look at the database decides.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice
from typing import Final, LiteralString, TypeAlias, TypeVar

import psycopg
from assay_runtime.settings import EvidenceSettings, KafkaSettings
from psycopg.rows import TupleRow

from assay_cli.check.log import EVENTS, JOBS, committed_offsets

STAGES: Final = ("extract", "normalize", "identity")
PAGE: Final = 1_000
"""Rows or records in memory at a time."""

Connection: TypeAlias = psycopg.Connection[TupleRow]
T = TypeVar("T")

_numbers = count()


@dataclass(frozen=True, slots=True)
class Offsets:
    """The next offset of each group by partition, as committed; partitions without a commit are absent."""

    stages: Mapping[str, Mapping[int, int]]
    apply: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Sources:
    """Open connections and settings; the databases are each read in one snapshot, begun after `offsets` were read."""

    resolver: Connection
    product: Connection
    kafka: KafkaSettings
    evidence: EvidenceSettings
    offsets: Offsets


@contextmanager
def open_sources(
    resolver_dsn: str, product_dsn: str, kafka: KafkaSettings, evidence: EvidenceSettings
) -> Generator[Sources]:
    """Connect to all, in the order that this module promises."""
    offsets = read_offsets(kafka)
    with _snapshot(product_dsn) as product, _snapshot(resolver_dsn) as resolver:
        yield Sources(resolver, product, kafka, evidence, offsets)


def read_offsets(kafka: KafkaSettings) -> Offsets:
    """Ask the broker how far each group has come."""
    return Offsets(
        {stage: committed_offsets(kafka, JOBS, f"stage.{stage}") for stage in STAGES},
        committed_offsets(kafka, EVENTS, "product.apply"),
    )


@contextmanager
def _snapshot(dsn: str) -> Generator[Connection]:
    with psycopg.connect(dsn) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        connection.execute("SELECT 1")
        yield connection


@contextmanager
def second_look(first: Connection) -> Generator[Connection]:
    """The same database, as it is now."""
    with psycopg.connect(first.info.dsn, password=first.info.password) as connection:
        connection.read_only = True
        yield connection


def stream(
    connection: Connection, statement: LiteralString, parameters: Mapping[str, object] | None = None
) -> Iterator[TupleRow]:
    """The rows of a statement, a page in memory at a time."""
    with connection.cursor(name=f"check_{next(_numbers)}") as cursor:
        cursor.itersize = PAGE
        cursor.execute(statement, parameters)
        yield from cursor


def pages(rows: Iterator[T], size: int = PAGE) -> Iterator[Sequence[T]]:
    """The same rows in lists of at most `size`."""
    while page := list(islice(rows, size)):
        yield page
