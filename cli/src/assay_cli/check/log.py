"""Reads a topic from its first to its last record, as any Kafka client could, without joining a group."""

from collections.abc import Iterator
from dataclasses import dataclass

from assay_contracts.topics import TOPICS
from assay_runtime.kafka.clients import make_consumer, physical
from assay_runtime.settings import KafkaSettings
from confluent_kafka import Consumer, TopicPartition

POLL_SECONDS = 10.0


class LogUnreadable(Exception):
    """A topic's records did not arrive in time."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a topic; key and value are null where the producer left them out."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands in its topic."""
        return (self.partition, self.offset)


def read_log(settings: KafkaSettings, topic: str) -> Iterator[Record]:
    """Every record that is in the topic now, partition by partition, in offset order."""
    consumer = make_consumer(settings, "check")
    try:
        for partition in range(TOPICS[topic].partitions):
            yield from _read_partition(consumer, TopicPartition(physical(settings, topic), partition))
    finally:
        consumer.close()


def _read_partition(consumer: Consumer, partition: TopicPartition) -> Iterator[Record]:
    low, high = consumer.get_watermark_offsets(partition, timeout=POLL_SECONDS)
    if low >= high:
        return
    consumer.assign([TopicPartition(partition.topic, partition.partition, low)])
    offset = low - 1
    while offset < high - 1:
        message = consumer.poll(POLL_SECONDS)
        if message is None or message.error() is not None:
            raise LogUnreadable(f"{partition.topic}[{partition.partition}] stops after offset {offset}")
        offset = message.offset() or 0
        yield Record(partition.partition, offset, message.key(), message.value())


def committed_offsets(settings: KafkaSettings, topic: str, group: str) -> dict[int, int]:
    """The next offset of a group by partition; partitions without a commit are absent."""
    consumer = make_consumer(settings, group)
    try:
        name = physical(settings, topic)
        asked = [TopicPartition(name, partition) for partition in range(TOPICS[topic].partitions)]
        return {one.partition: one.offset for one in consumer.committed(asked, timeout=POLL_SECONDS) if one.offset >= 0}
    finally:
        consumer.close()
