"""I2 and I11 on what was given up on: each letter is its tenant's own, and its copy in Kafka is the row's."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from assay_contracts.decoder import check_key, decode
from assay_contracts.errors import InvalidMessage
from assay_runtime import sql

from assay_cli.check.log import EVENTS, JOBS, Log, Record
from assay_cli.check.sources import Connection, Sources, pages, second_look, stream
from assay_cli.check.violations import Violation, found

_SQL: Final = sql.load("assay_cli", "check_letters")

Place = tuple[UUID, int, int]
"""Where a refused record stood: topic id, partition, offset."""


@dataclass(frozen=True, slots=True)
class _Keeper:
    """The database of a topic's consumers."""

    topic: str
    connection: Connection


def check_letters(sources: Sources) -> Iterator[Violation]:
    """Compare both databases' letters with their topics."""
    for keeper in (_Keeper(JOBS, sources.resolver), _Keeper(EVENTS, sources.product)):
        yield from _tenants(keeper)
        yield from _copies(sources, keeper)


def _tenants(keeper: _Keeper) -> Iterator[Violation]:
    """Whoever may see a letter is named by its own bytes and key, or by nobody."""
    for *place, tenant_id, key, value in stream(keeper.connection, _SQL["list_letters"], {"topic": keeper.topic}):
        if tenant_id != _tenant_of(keeper.topic, key, value):
            yield found("i11_letter_of_another_tenant", f"{keeper.topic} {place[1]}/{place[2]} {tenant_id}")


def _tenant_of(topic: str, key: bytes | None, value: bytes | None) -> str | None:
    try:
        return check_key(topic, key, decode(topic, value).payload)
    except InvalidMessage:
        return None


def _copies(sources: Sources, keeper: _Keeper) -> Iterator[Violation]:
    """The row comes before its copy, and the mark after it; a copy may come twice."""
    copied: set[Place] = set()
    with Log(sources.kafka, f"{keeper.topic}.dlq") as log:
        for page in pages(log.records()):
            placed = [(record, _place(record)) for record in page]
            yield from _differing(keeper, placed)
            copied.update(place for _, place in placed if place is not None)
        if not log.is_whole:
            return
    for *place, _ in stream(keeper.connection, _SQL["list_published"], {"topic": keeper.topic}):
        if (place[0], place[1], place[2]) not in copied:
            yield found("i2_letter_marked_before_copied", f"{keeper.topic} {place[1]}/{place[2]}")


def _differing(keeper: _Keeper, placed: Sequence[tuple[Record, Place | None]]) -> Iterator[Violation]:
    """Copies of no row, and copies of other bytes. A row may be newer than the snapshot."""
    rows = _values(keeper.connection, placed)
    if any(place is not None and place not in rows for _, place in placed):
        with second_look(keeper.connection) as now:
            rows = {**_values(now, placed), **rows}
    for record, place in placed:
        if place not in rows:
            yield found("i2_letter_copy_without_row", f"{keeper.topic}.dlq {record.name}")
        elif (record.value or b"") != rows[place]:
            yield found("i2_letter_copy_differs", f"{keeper.topic}.dlq {record.name}")


def _values(connection: Connection, placed: Sequence[tuple[Record, Place | None]]) -> Mapping[Place | None, bytes]:
    places = [place for _, place in placed if place is not None]
    wanted = {
        "topic_ids": [topic_id for topic_id, _, _ in places],
        "partitions": [partition for _, partition, _ in places],
        "offsets": [offset for _, _, offset in places],
    }
    return {(row[0], row[1], row[2]): row[3] or b"" for row in connection.execute(_SQL["find_values"], wanted)}


def _place(record: Record) -> Place | None:
    """Where the copy says that its record stood; of equal names the last counts, the record's own come first."""
    told = {name: value for name, value in record.headers if value is not None}
    try:
        return UUID(told["dlq-topic-id"].decode()), int(told["dlq-partition"]), int(told["dlq-offset"])
    except (KeyError, ValueError):
        return None
