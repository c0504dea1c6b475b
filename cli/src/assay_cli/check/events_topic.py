"""I3, I5 and I11 on `catalog.event.v1`: streams in position order, marks after records, and nothing passed unseen."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final
from uuid import UUID

from assay_contracts.decoder import decode
from assay_contracts.envelope import Envelope
from assay_contracts.errors import InvalidMessage
from assay_contracts.messages import CatalogEvent
from assay_runtime import sql

from assay_cli.check.log import EVENTS, Log, Record, topic_id_of
from assay_cli.check.reading import Keys, check_partitions, is_readable, read_pages
from assay_cli.check.sources import Sources
from assay_cli.check.violations import Violation, found

_SQL: Final = sql.load("assay_cli", "check_streams")

Scope = tuple[str, str, str]
"""A stream: tenant, catalog, history epoch."""
Seen = tuple[Record, Envelope[CatalogEvent] | None]
Known = Mapping[tuple[Scope, int], tuple[UUID, bytes | None]]
"""Event id, and the outbox value's SHA-256 while it is there, of positions of the history."""


def check_events(sources: Sources) -> Iterator[Violation]:
    """Read the topic once, a page at a time."""
    topic_id = topic_id_of(sources.kafka, EVENTS)
    streams = _Streams(sources)
    projection = _Projection(sources, topic_id)
    keys = Keys(EVENTS)
    yield from projection.check_offsets(sources.offsets.apply)
    with Log(sources.kafka, EVENTS) as log:
        yield from check_partitions(log)
        for page in read_pages(log, topic_id, sources.product):
            seen = [(record, _decode(record)) for record in page]
            known = _history(sources, seen)
            for record, envelope in seen:
                yield from projection.check(record, envelope)
                if envelope is not None:
                    yield from keys.check(record, envelope.payload)
                    yield from streams.check(record, envelope, known, is_whole=log.begins[record.partition] == 0)
        yield from streams.check_marks(is_whole=log.is_whole)


def _decode(record: Record) -> Envelope[CatalogEvent] | None:
    try:
        return decode("catalog.event.v1", record.value)
    except InvalidMessage:
        return None


def _scope(event: CatalogEvent) -> Scope:
    return (event.tenant_id, event.catalog_id, event.history_epoch)


def _history(sources: Sources, seen: Sequence[Seen]) -> Known:
    events = [envelope.payload for _, envelope in seen if envelope is not None]
    wanted = {
        "tenants": [event.tenant_id for event in events],
        "catalogs": [event.catalog_id for event in events],
        "epochs": [event.history_epoch for event in events],
        "positions": [event.position for event in events],
    }
    rows = sources.resolver.execute(_SQL["find_positions"], wanted)
    return {((row[0], row[1], row[2]), row[3]): (row[4], row[5]) for row in rows}


@dataclass(slots=True)
class _Streams:
    """I5: how far each stream has come in the log, against where its history ends and what the relay has marked."""

    sources: Sources
    ends: dict[Scope, tuple[int, int]] = field(default_factory=dict[Scope, tuple[int, int]])
    highest: dict[Scope, int] = field(default_factory=dict[Scope, int])

    def __post_init__(self) -> None:
        for *names, position, published, _, _, _ in self.sources.resolver.execute(_SQL["list_streams"]):
            self.ends[names[0], names[1], names[2]] = (position, published)

    def check(
        self, record: Record, envelope: Envelope[CatalogEvent], known: Known, *, is_whole: bool
    ) -> Iterator[Violation]:
        """First occurrences come in order, without a hole; repeats may come at any time.

        An event that is not the history's own says nothing about order. One beyond the history's end may be newer than
        the snapshot.
        """
        event, stream = envelope.payload, _scope(envelope.payload)
        if event.position <= self.ends.get(stream, (0, 0))[0]:
            own = known.get((stream, event.position))
            if own is None or own[0] != envelope.id or own[1] not in (None, sha256(record.value or b"").digest()):
                yield found("i5_event_of_no_history", f"{'/'.join(stream)} {event.position} at {record.name}")
                return
        expected = self.highest.get(stream, 0) + 1
        begins_late = not is_whole and stream not in self.highest
        if event.position > expected and not begins_late:
            yield found("i5_position_out_of_order", f"{'/'.join(stream)} {event.position}, not {expected}")
        self.highest[stream] = max(expected - 1, event.position)

    def check_marks(self, *, is_whole: bool) -> Iterator[Violation]:
        """A stream that is marked further than its events are in the topic: marked before the acknowledgement."""
        for stream, (_, published) in self.ends.items():
            seen = self.highest.get(stream, 0)
            if published > seen and (is_whole or seen):
                name = "/".join(stream)
                yield found("i5_marked_before_acknowledged", f"{name} marked {published}, in topic {seen}")


class _Projection:
    """I3: where product stands by its own database, and what it has taken in there."""

    def __init__(self, sources: Sources, topic_id: UUID) -> None:
        product = sources.product
        self._offsets = dict(_pair(row) for row in product.execute(_SQL["read_offsets"], {"topic_id": topic_id}))
        self._progress: dict[Scope, int] = {}
        self._beyond: dict[Scope, Collection[int]] = {}
        for tenant_id, catalog_id, generation, epoch, progress, _ in product.execute(
            _SQL["list_generations"]
        ).fetchall():
            scope: Scope = (tenant_id, catalog_id, epoch)
            names = {"tenant_id": tenant_id, "catalog_id": catalog_id, "generation": generation, "progress": progress}
            self._progress[scope] = progress
            self._beyond[scope] = {position for (position,) in product.execute(_SQL["read_taken"], names)}

    def check_offsets(self, committed: Mapping[int, int]) -> Iterator[Violation]:
        """A group offset beyond what product's own database has committed."""
        for partition, offset in committed.items():
            own = self._offsets.get(partition, 0)
            if offset > own:
                yield found("i3_offset_past_projection", f"{partition} at {offset}, own {own}")

    def check(self, record: Record, envelope: Envelope[CatalogEvent] | None) -> Iterator[Violation]:
        """What product has read past has taken effect, is parked, or was kept as a dead letter."""
        if record.offset < self._offsets.get(record.partition, 0) and not self._has_taken(record, envelope):
            yield found("i3_event_passed_without_trace", f"{EVENTS} {record.name}")

    def _has_taken(self, record: Record, envelope: Envelope[CatalogEvent] | None) -> bool:
        if envelope is None or not is_readable(EVENTS, record):
            return False
        position, stream = envelope.payload.position, _scope(envelope.payload)
        if stream not in self._progress:
            return False
        return position <= self._progress[stream] or position in self._beyond[stream]


def _pair(row: Sequence[int]) -> tuple[int, int]:
    return row[0], row[1]
