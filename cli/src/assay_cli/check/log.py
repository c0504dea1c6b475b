"""Reads a topic from its first to its last record, as any Kafka client could, without joining a group."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, cast
from uuid import UUID

from assay_contracts.topics import TOPICS
from assay_runtime.kafka.clients import make_consumer, physical
from assay_runtime.kafka.topics import topic_ids
from assay_runtime.settings import KafkaSettings
from confluent_kafka import Message, TopicPartition

JOBS: Final = "resolution.job.v1"
EVENTS: Final = "catalog.event.v1"

POLL_SECONDS = 10.0


class LogUnreadable(Exception):
    """A topic is absent, or its records did not arrive in time."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a topic; key and value are null where the producer left them out."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]] = ()

    @property
    def name(self) -> str:
        """How a violation names it."""
        return f"{self.partition}/{self.offset}"


class Log:
    """One topic of the broker. `begins`: the first offset that each partition still has."""

    def __init__(self, settings: KafkaSettings, topic: str) -> None:
        """LogUnreadable if there is no such topic."""
        self.topic = topic
        self._name = physical(settings, topic)
        self._consumer = make_consumer(settings, "check")
        self._marks = {partition: self._watermarks(partition) for partition in range(self._count_partitions())}
        self.begins = {partition: low for partition, (low, _) in self._marks.items()}

    @property
    def has_its_partitions(self) -> bool:
        """Whether there are as many as the topic's file says."""
        return len(self._marks) == TOPICS[self.topic].partitions

    @property
    def is_whole(self) -> bool:
        """Whether nothing has expired yet."""
        return not any(self.begins.values())

    def records(self) -> Iterator[Record]:
        """Every record that was in the topic when it was opened, each partition's in offset order."""
        ends = {partition: high for partition, (low, high) in self._marks.items() if low < high}
        self._consumer.assign([TopicPartition(self._name, partition, self.begins[partition]) for partition in ends])
        while ends:
            record = self._next()
            if record.offset < ends.get(record.partition, 0):
                yield record
            if record.offset + 1 >= ends.get(record.partition, 0):
                ends.pop(record.partition, None)

    def close(self) -> None:
        """Let go of the consumer."""
        self._consumer.close()

    def __enter__(self) -> "Log":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _count_partitions(self) -> int:
        known = self._consumer.list_topics(self._name, POLL_SECONDS).topics[self._name]
        if known.error is not None:
            raise LogUnreadable(f"{self._name}: {known.error}")
        return len(known.partitions)

    def _watermarks(self, partition: int) -> tuple[int, int]:
        place = TopicPartition(self._name, partition)
        return self._consumer.get_watermark_offsets(place, timeout=POLL_SECONDS)

    def _next(self) -> Record:
        message = self._consumer.poll(POLL_SECONDS)
        if message is None:
            raise LogUnreadable(f"{self._name} stops before its end")
        error = message.error()
        if error is not None:
            raise LogUnreadable(f"{self._name}: {error.str()}")
        return _record(message)


def _record(message: Message) -> Record:
    headers = cast("list[tuple[str, bytes | None]]", message.headers() or [])
    place = cast("tuple[int, int]", (message.partition(), message.offset()))
    return Record(*place, _bytes(message.key()), _bytes(message.value()), headers)


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def committed_offsets(settings: KafkaSettings, topic: str, group: str) -> dict[int, int]:
    """The next offset of a group by partition; partitions without a commit are absent."""
    consumer = make_consumer(settings, group)
    try:
        name = physical(settings, topic)
        asked = [TopicPartition(name, partition) for partition in range(TOPICS[topic].partitions)]
        return {one.partition: one.offset for one in consumer.committed(asked, timeout=POLL_SECONDS) if one.offset >= 0}
    finally:
        consumer.close()


def topic_id_of(settings: KafkaSettings, topic: str) -> UUID:
    """The id that the broker gave to the topic; LogUnreadable if there is none."""
    found = topic_ids(settings, [topic]).get(topic)
    if found is None:
        raise LogUnreadable(f"{physical(settings, topic)} does not exist")
    return found
