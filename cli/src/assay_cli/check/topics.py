"""I3, I5 and I11 in Kafka: offsets only past committed work, streams in position order, tenants by themselves."""

from collections.abc import Iterable, Iterator

from assay_contracts.decoder import decode
from assay_contracts.errors import InvalidMessage
from assay_contracts.messages import CatalogEvent, ResolutionJob
from assay_runtime import sql
from assay_runtime.kafka.topics import topic_ids

from assay_cli.check.log import Record, committed_offsets, read_log
from assay_cli.check.sources import Sources
from assay_cli.check.violations import Violation

JOBS, EVENTS = "resolution.job.v1", "catalog.event.v1"
STAGES = ("extract", "normalize", "identity")

_STREAMS = sql.load("assay_cli", "check_streams")


Place = tuple[str, int, int]
"""A record's topic id, partition and offset."""


def check_topics(sources: Sources) -> Iterator[Violation]:
    """Read both topics whole; what was given up on, with a dead letter to show for it, took no part."""
    ids = topic_ids(sources.kafka, [JOBS, EVENTS])
    letters = _dead_letters(sources)
    jobs, events = (
        [record for record in read_log(sources.kafka, topic) if (str(ids[topic]), *record.place) not in letters]
        for topic in (JOBS, EVENTS)
    )
    yield from _skipped_jobs(sources)
    yield from _skipped_garbage(sources, jobs)
    yield from _skipped_events(sources, str(ids[EVENTS]))
    yield from check_order(events)
    yield from _unpublished(sources, events)
    yield from check_tenants(JOBS, jobs)
    yield from check_tenants(EVENTS, events)


def _dead_letters(sources: Sources) -> set[Place]:
    rows = [
        *sources.resolver.execute(_STREAMS["list_dead_letters"]),
        *sources.product.execute(_STREAMS["list_dead_letters"]),
    ]
    return {(row[0], row[1], row[2]) for row in rows}


def _skipped_jobs(sources: Sources) -> Iterator[Violation]:
    """An open job whose message the stage's group has left behind; the sweeper has a moment to send it again."""
    committed = {stage: committed_offsets(sources.kafka, JOBS, f"stage.{stage}") for stage in STAGES}
    for stage, _, partition, offset, name in sources.resolver.execute(_STREAMS["list_open_jobs"]):
        if offset < committed.get(stage, {}).get(partition, 0):
            yield Violation("I3", "i3_offset_past_open_job", f"{name} at {partition}/{offset}")


def _skipped_garbage(sources: Sources, jobs: Iterable[Record]) -> Iterator[Violation]:
    """A record that nobody can read, past every group's offset, without a dead letter."""
    committed = [committed_offsets(sources.kafka, JOBS, f"stage.{stage}") for stage in STAGES]
    for record in jobs:
        passed = all(record.offset < offsets.get(record.partition, 0) for offsets in committed)
        if passed and _read(JOBS, record) is None:
            yield Violation("I3", "i3_unreadable_without_dead_letter", f"{record.partition}/{record.offset}")


def _skipped_events(sources: Sources, topic_id: str) -> Iterator[Violation]:
    """A group offset beyond what product's own database has committed."""
    own = {row[1]: row[2] for row in sources.product.execute(_STREAMS["read_offsets"]) if row[0] == topic_id}
    for partition, offset in committed_offsets(sources.kafka, EVENTS, "product.apply").items():
        if offset > own.get(partition, 0):
            yield Violation("I3", "i3_offset_past_projection", f"{partition} at {offset}, own {own.get(partition, 0)}")


def check_order(events: Iterable[Record]) -> Iterator[Violation]:
    """The first occurrences of a stream's positions come in order, without a hole; repeats may come at any time."""
    highest: dict[tuple[str, str, str], int] = {}
    for record in events:
        event = _read(EVENTS, record)
        if isinstance(event, CatalogEvent):
            stream = (event.tenant_id, event.catalog_id, event.history_epoch)
            expected = highest.get(stream, 0) + 1
            if event.position > expected:
                yield Violation(
                    "I5", "i5_position_out_of_order", f"{'/'.join(stream)} {event.position}, not {expected}"
                )
            highest[stream] = max(expected - 1, event.position)


def _unpublished(sources: Sources, events: Iterable[Record]) -> Iterator[Violation]:
    """A stream that is marked further than its events are in the topic: marked before the acknowledgement."""
    highest: dict[tuple[str, str, str], int] = {}
    for record in events:
        event = _read(EVENTS, record)
        if isinstance(event, CatalogEvent):
            stream = (event.tenant_id, event.catalog_id, event.history_epoch)
            highest[stream] = max(highest.get(stream, 0), event.position)
    for tenant_id, catalog_id, history_epoch, _, published, _ in sources.resolver.execute(_STREAMS["list_streams"]):
        seen = highest.get((tenant_id, catalog_id, history_epoch), 0)
        if published > seen:
            stream = f"{tenant_id}/{catalog_id}/{history_epoch}"
            yield Violation("I5", "i5_marked_before_acknowledged", f"{stream} marked {published}, in topic {seen}")


def check_tenants(topic: str, records: Iterable[Record]) -> Iterator[Violation]:
    """A readable message goes under its own tenant's key, and one tenant to one partition."""
    partitions: dict[str, int] = {}
    for record in records:
        message = _read(topic, record)
        if message is None:
            continue
        if record.key != message.tenant_id.encode():
            yield Violation("I11", "i11_key_of_another_tenant", f"{topic} {record.partition}/{record.offset}")
        elif partitions.setdefault(message.tenant_id, record.partition) != record.partition:
            yield Violation("I11", "i11_tenant_on_two_partitions", f"{topic} {record.partition}/{record.offset}")


def _read(topic: str, record: Record) -> ResolutionJob | CatalogEvent | None:
    try:
        payload = decode(topic, record.value).payload
    except InvalidMessage:
        return None
    assert isinstance(payload, ResolutionJob | CatalogEvent)
    return payload
