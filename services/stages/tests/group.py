"""What the broker knows of a stage's group."""

from assay_contracts.topics import TOPICS
from assay_runtime.kafka import make_consumer, physical
from confluent_kafka import TopicPartition

from .world import JOBS, Place

SECONDS = 15.0


def lag(place: Place, stage: str) -> int:
    """Records of the jobs topic that the stage's group has not committed."""
    consumer = make_consumer(place.kafka, f"stage.{stage}")
    try:
        name = physical(place.kafka, JOBS)
        asked = [TopicPartition(name, number) for number in range(TOPICS[JOBS].partitions)]
        committed = consumer.committed(asked, timeout=SECONDS)
        ends = [consumer.get_watermark_offsets(each, timeout=SECONDS)[1] for each in asked]
        return sum(end - max(each.offset, 0) for each, end in zip(committed, ends, strict=True))
    finally:
        consumer.close()
