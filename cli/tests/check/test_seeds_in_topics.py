"""What only records or offsets can break: each wrong is made in a copy of the topics, and named."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import cast
from uuid import uuid4

import psycopg
import pytest
from assay_cli.check import check
from assay_cli.check.log import EVENTS, JOBS, Record
from assay_cli.check.sources import Offsets
from assay_contracts.decoder import decode
from assay_contracts.encoder import encode
from assay_contracts.envelope import Envelope
from assay_contracts.errors import InvalidMessage
from assay_contracts.ids import JobId, new_id
from assay_runtime.kafka import physical
from assay_runtime.settings import KafkaSettings
from confluent_kafka.admin import AdminClient, NewPartitions  # pyright: ignore[reportPrivateImportUsage] - documented there

from .copies import copy_topics, everything_read
from .place import Place
from .seed import rules, spoilt

Edit = Callable[[list[Record]], list[Record]]


@dataclass(frozen=True)
class LogSeed:
    """A topic's records as they must not be. passed: every group has read all of them."""

    rule: str
    topic: str
    edit: Edit
    passed: bool = False


def _swapped(records: list[Record]) -> list[Record]:
    """Two events of one stream in the other order."""
    first = next(n for n, (one, two) in enumerate(pairwise(records)) if _follows(one, two))
    return [*records[:first], records[first + 1], records[first], *records[first + 2 :]]


def _follows(one: Record, two: Record) -> bool:
    try:
        before, after = (decode("catalog.event.v1", record.value).payload for record in (one, two))
    except InvalidMessage:
        return False
    return one.partition == two.partition and before.tenant_id == after.tenant_id


def _without_last(records: list[Record]) -> list[Record]:
    """The other tenant's last event never arrived."""
    last = max(n for n, record in enumerate(records) if record.key == b"ten_two")
    return [*records[:last], *records[last + 1 :]]


def _repeated(**changes: object) -> Edit:
    """The other tenant's first record comes once more, changed."""

    def edit(records: list[Record]) -> list[Record]:
        repeated = next(record for record in records if record.key == b"ten_two")
        if changes.get("partition"):
            return [*records, replace(repeated, partition=(repeated.partition + 1) % 8)]
        return [*records, replace(repeated, **changes)]  # pyright: ignore[reportArgumentType] - fields of a record

    return edit


def _with_another_event(records: list[Record]) -> list[Record]:
    """Another event claims the first position of the other tenant's stream."""
    record = next(record for record in records if record.key == b"ten_two")
    event, forged = decode("catalog.event.v1", record.value).payload, uuid4()
    payload = event.model_copy(update={"event_id": f"evt_{forged.hex}"})
    return [*records, replace(record, value=encode(Envelope(id=forged, ts=1, attempt=1, payload=payload)))]


def _with_unpromised_job(records: list[Record]) -> list[Record]:
    """A job that no database knows."""
    record = next(record for record in records if record.key == b"ten_two")
    envelope = decode("resolution.job.v1", record.value)
    capture_id = new_id("cap")
    changed = {"capture_id": capture_id, "job_id": JobId(f"{capture_id}:{envelope.payload.stage}:1")}
    payload = envelope.payload.model_copy(update=changed)
    return [*records, replace(record, value=encode(Envelope(id=uuid4(), ts=1, attempt=1, payload=payload)))]


def _with_unkept_letter(records: list[Record]) -> list[Record]:
    """A copy that says it comes from a place where no dead letter is kept."""
    headers = [(name, b"999999" if name.endswith("offset") else value) for name, value in records[0].headers]
    return [*records, replace(records[0], headers=headers)]


SEEDS = (
    LogSeed("i2_letter_copy_without_row", f"{JOBS}.dlq", _with_unkept_letter),
    LogSeed("i2_letter_copy_without_row", f"{EVENTS}.dlq", lambda records: [*records, replace(records[0], headers=[])]),
    LogSeed("i3_job_passed_without_trace", JOBS, _with_unpromised_job, passed=True),
    LogSeed("i5_event_of_no_history", EVENTS, _with_another_event),
    LogSeed("i5_marked_before_acknowledged", EVENTS, _without_last),
    LogSeed("i5_position_out_of_order", EVENTS, _swapped),
    LogSeed("i11_key_of_another_tenant", EVENTS, _repeated(key=b"ten_one")),
    LogSeed("i11_key_of_another_tenant", JOBS, _repeated(key=b"ten_one")),
    LogSeed("i11_tenant_on_two_partitions", EVENTS, _repeated(partition=True)),
    LogSeed("i11_tenant_on_two_partitions", JOBS, _repeated(partition=True)),
)


@pytest.mark.parametrize("seed", SEEDS, ids=[f"{seed.topic}-{seed.rule}" for seed in SEEDS])
def test_a_wrong_in_a_topic_is_named(world: Place, seed: LogSeed) -> None:
    topics = copy_topics(world, lambda name, records: seed.edit(records) if name == seed.topic else records)
    offsets = everything_read(topics.kafka) if seed.passed else world.offsets()
    with spoilt(world, kafka=topics.kafka, offsets=offsets) as sources:
        topics.adopt(sources)
        if seed.passed:
            _end_waiting(sources.resolver)
        assert rules(check(sources)) == {seed.rule}


def test_faithful_copies_of_the_topics_show_nothing(world: Place) -> None:
    topics = copy_topics(world, lambda _, records: records)
    with spoilt(world, kafka=topics.kafka) as sources:
        topics.adopt(sources)
        assert check(sources) == []


def test_a_group_offset_beyond_its_database_is_named(world: Place) -> None:
    before = world.offsets()
    ahead = Offsets(before.stages, {partition: offset + 1 for partition, offset in before.apply.items()})
    with spoilt(world, offsets=ahead) as sources:
        assert rules(check(sources)) == {"i3_offset_past_projection"}


def test_a_topic_with_more_partitions_is_named(world: Place) -> None:
    topics = copy_topics(world, lambda _, records: records)
    _add_partition(topics.kafka, EVENTS)
    with spoilt(world, kafka=topics.kafka) as sources:
        topics.adopt(sources)
        assert rules(check(sources)) == {"i5_partition_count_changed"}


def _end_waiting(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """Whoever has read everything has taken up the job that waits in Kafka, too: it is to be sent again."""
    connection.execute(
        "UPDATE job SET sent_topic_id = NULL, sent_partition = NULL, sent_offset = NULL WHERE state = 'open'"
    )


def _add_partition(kafka: KafkaSettings, topic: str) -> None:
    name = physical(kafka, topic)
    admin = AdminClient({"bootstrap.servers": kafka.kafka_bootstrap})
    made = cast("Mapping[str, Future[None]]", admin.create_partitions([NewPartitions(name, 9)]))  # pyright: ignore[reportUnknownMemberType] - open futures
    made[name].result(30)
