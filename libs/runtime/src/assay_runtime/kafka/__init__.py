"""Kafka for every process: clients made in one place, a publisher that knows what was acknowledged, topics by file."""

from assay_runtime.errors import DeliveryFailed, KafkaUnavailable, TopicMismatch
from assay_runtime.kafka.clients import PARTITIONER, make_consumer, make_producer, physical
from assay_runtime.kafka.headers import letter_headers, message_headers
from assay_runtime.kafka.publisher import Delivered, Outgoing, Publisher
from assay_runtime.kafka.topics import ensure_topics, topic_ids

__all__ = [
    "PARTITIONER",
    "Delivered",
    "DeliveryFailed",
    "KafkaUnavailable",
    "Outgoing",
    "Publisher",
    "TopicMismatch",
    "ensure_topics",
    "letter_headers",
    "make_consumer",
    "make_producer",
    "message_headers",
    "physical",
    "topic_ids",
]
