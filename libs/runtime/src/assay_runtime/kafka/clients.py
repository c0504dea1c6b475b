"""The one place that makes Kafka clients, so that every service puts a tenant on the same partition."""

import logging
from collections.abc import Mapping

from confluent_kafka import Consumer, KafkaException, Producer

from assay_runtime.settings import KafkaSettings

PARTITIONER = "murmur2_random"
"""Java's and aiokafka's placement; librdkafka's own default agrees with it on an eighth of all keys."""
WARM_SECONDS = 2.0
QUEUE_KBYTES = 65_536
"""How much a producer keeps while the broker is away; beyond it a send fails at once."""

_librdkafka = logging.getLogger("librdkafka")


def physical(settings: KafkaSettings, name: str) -> str:
    """The name on the broker of a topic or group: the installation's prefix, then the name."""
    return settings.kafka_prefix + name


def make_producer(
    settings: KafkaSettings, client_id: str = "assay", tuning: Mapping[str, str | int | bool] | None = None
) -> Producer:
    """An idempotent producer that waits for all replicas and never gives up on a message by itself.

    `message.timeout.ms=0`: a batch that expired while a later one was delivered would break a stream's order. The
    caller decides how long to wait. An idempotent producer's first message takes half a second, so it is warmed: a
    broker that is away makes the call return after WARM_SECONDS with a producer that connects later. `tuning` is for
    librdkafka properties about batching and failing, never for those above.
    """
    producer = Producer(
        {
            "bootstrap.servers": settings.kafka_bootstrap,
            "client.id": client_id,
            "acks": "all",
            "enable.idempotence": True,
            "partitioner": PARTITIONER,
            "message.timeout.ms": 0,
            "linger.ms": 2,
            "queue.buffering.max.kbytes": QUEUE_KBYTES,
            "socket.keepalive.enable": True,
            **(tuning or {}),
        },
        logger=_librdkafka,
    )
    try:
        producer.list_topics(timeout=WARM_SECONDS)
    except KafkaException as error:
        _librdkafka.warning("producer is not warm: %s", error)
    return producer


def make_consumer(settings: KafkaSettings, group: str, instance: str | None = None) -> Consumer:
    """A consumer whose offsets move only when its caller commits them, from the earliest where none is committed.

    Assignment is eager (`range`): on every rebalance all partitions are revoked and assigned anew, which keeps "drop
    what is queued, finish what has begun" a rule without exceptions; an `on_assign` callback may call `assign` with
    offsets of its own. A process with a stable `instance` name takes over from its dead predecessor at once instead
    of after the session's 6 s.
    """
    static = {} if instance is None else {"group.instance.id": physical(settings, instance)}
    return Consumer(
        {
            "bootstrap.servers": settings.kafka_bootstrap,
            "client.id": group,
            "group.id": physical(settings, group),
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "earliest",
            "partition.assignment.strategy": "range",
            "session.timeout.ms": 6_000,
            "heartbeat.interval.ms": 1_500,
            "socket.keepalive.enable": True,
            "allow.auto.create.topics": False,
            **static,
        },
        logger=_librdkafka,
    )
