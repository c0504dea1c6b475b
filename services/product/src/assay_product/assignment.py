"""⑥ to ⑦: where apply begins to read when Kafka gives it partitions."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from assay_runtime.kafka import physical, topic_ids
from assay_runtime.postgres import SyncPool
from assay_runtime.settings import KafkaSettings
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from assay_product.deliveries import TOPIC
from assay_product.errors import TopicMissing
from assay_product.store.deliveries import read_offsets

COMMITTED_SECONDS = 10.0


def start_offset(own: int | None, committed: int) -> int:
    """The lower of the database's own offset and the group's (negative: none).

    An operator who resets the group's offsets thus gets a replay, and a commit that ran ahead of the database, or of a
    database that was restored, harms nothing. A database that knows nothing reads from the beginning.
    """
    if own is None:
        return OFFSET_BEGINNING
    return own if committed < 0 else min(own, committed)


def place(
    consumer: Consumer, partitions: Sequence[TopicPartition], settings: KafkaSettings, pool: SyncPool
) -> tuple[UUID, list[TopicPartition]]:
    """The topic's id and the partitions with their start offsets. Raises when Kafka or the database is away."""
    topic_id = topic_ids(settings, [TOPIC]).get(TOPIC)
    if topic_id is None:
        raise TopicMissing(physical(settings, TOPIC))
    committed = {one.partition: one.offset for one in consumer.committed(list(partitions), timeout=COMMITTED_SECONDS)}
    with pool.connection() as conn:
        own = read_offsets(conn, topic_id)
    return topic_id, [_placed(one, own, committed) for one in partitions]


def _placed(one: TopicPartition, own: Mapping[int, int], committed: Mapping[int, int]) -> TopicPartition:
    return TopicPartition(one.topic, one.partition, start_offset(own.get(one.partition), committed[one.partition]))
