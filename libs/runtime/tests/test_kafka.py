"""Kafka as every process meets it: placement, acknowledgement, refusal, outage, topics; on a real broker."""

import asyncio
import subprocess
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Protocol, cast

import pytest
from assay_cli.stack.kafka import java
from assay_contracts.topics import Topic
from assay_runtime.errors import DeliveryFailed, KafkaUnavailable, TopicMismatch
from assay_runtime.kafka import (
    Delivered,
    Outgoing,
    Publisher,
    clients,
    ensure_topics,
    make_consumer,
    message_headers,
    physical,
    topic_ids,
)
from assay_runtime.settings import KafkaSettings
from confluent_kafka import Consumer, Message
from confluent_kafka.admin import AdminClient

PARTITIONS = 8
JAVA_HASHES = {
    "21": -973932308,
    "foobar": -790332482,
    "a-little-bit-long-string": -985981536,
    "a-little-bit-longer-string": -1486304829,
    "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    "abc": 479470107,
}
"""Results of Java's Utils.murmur2, as its own unit test states them."""

TOPIC = Topic(
    name="resolution.job.v1",
    message="resolution.job.v1",
    owner="tests",
    producers=("tests",),
    consumers=("tests",),
    key="tenant",
    partitions=PARTITIONS,
    retention_ms=3_600_000,
    cleanup="delete",
    max_bytes=16_384,
    dead_letter=None,
)


@pytest.fixture
def settings(kafka_bootstrap: str, kafka_prefix: str) -> KafkaSettings:
    return KafkaSettings(kafka_bootstrap=kafka_bootstrap, kafka_prefix=kafka_prefix)


@pytest.fixture
def topic(settings: KafkaSettings) -> str:
    ensure_topics(settings, [TOPIC], replication=1)
    return TOPIC.name


@pytest.fixture
def publisher(settings: KafkaSettings) -> Iterator[Publisher]:
    with Publisher(settings, "tests") as publisher:
        yield publisher


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> KafkaSettings:
    monkeypatch.setattr(clients, "WARM_SECONDS", 0.01)
    return KafkaSettings(kafka_bootstrap="127.0.0.1:1")


def outgoing(topic: str, key: str, value: bytes = b"{}") -> Outgoing:
    return Outgoing(topic, key.encode(), value, [("schema", b"resolution.job/1")])


def read(consumer: Consumer, count: int) -> list[Message]:
    found: list[Message] = []
    while len(found) < count:
        found += consumer.consume(count - len(found), timeout=20)
    return found


def test_tenants_lie_where_javas_hash_puts_them(publisher: Publisher, topic: str) -> None:
    delivered = publisher.publish_batch([outgoing(topic, key) for key in JAVA_HASHES])
    expected = [(value & 0x7FFFFFFF) % PARTITIONS for value in JAVA_HASHES.values()]
    assert [place.partition for place in delivered] == expected


def test_tenants_lie_where_kafkas_own_producer_puts_them(
    settings: KafkaSettings, publisher: Publisher, topic: str
) -> None:
    keys = [f"ten_{uuid.uuid4().hex}" for _ in range(500)]
    produce_with_kafkas_own_tool(settings, topic, keys)
    publisher.publish_batch([outgoing(topic, key) for key in keys])
    consumer = make_consumer(settings, "placement")
    consumer.subscribe([physical(settings, topic)])
    try:
        places = [(message.key(), message.partition()) for message in read(consumer, 2 * len(keys))]
    finally:
        consumer.close()
    assert len(set(places)) == len(keys)


def produce_with_kafkas_own_tool(settings: KafkaSettings, topic: str, keys: list[str]) -> None:
    options = ["--bootstrap-server", settings.kafka_bootstrap, "--topic", physical(settings, topic)]
    options += ["--reader-property", "parse.key=true", "--reader-property", "key.separator=:"]
    command = java("org.apache.kafka.tools.ConsoleProducer", options)
    lines = "".join(f"{key}:{{}}\n" for key in keys)
    subprocess.run(command, input=lines, text=True, check=True, timeout=60, capture_output=True)


async def test_send_says_where_the_message_is(settings: KafkaSettings, publisher: Publisher, topic: str) -> None:
    first = await publisher.send(topic, b"ten_a", b'{"n":1}', [("schema", b"resolution.job/1")])
    second = await publisher.send(topic, b"ten_a", b'{"n":2}', [])
    assert first == Delivered(topic, first.partition, 0)
    assert second == Delivered(topic, first.partition, 1)
    consumer = make_consumer(settings, "reader")
    consumer.subscribe([physical(settings, topic)])
    try:
        messages = read(consumer, 2)
    finally:
        consumer.close()
    assert [message.value() for message in messages] == [b'{"n":1}', b'{"n":2}']
    assert messages[0].headers() == [("schema", b"resolution.job/1")]


async def test_many_coroutines_share_a_publisher(publisher: Publisher, topic: str) -> None:
    places = await asyncio.gather(*(publisher.send(topic, b"ten_a", b"{}", []) for _ in range(200)))
    assert sorted(place.offset for place in places) == list(range(200))


def test_a_batch_is_answered_in_its_own_order(publisher: Publisher, topic: str) -> None:
    keys = [f"ten_{number % 20}" for number in range(1000)]
    delivered = publisher.publish_batch([outgoing(topic, key) for key in keys])
    partitions = dict(zip(keys, (place.partition for place in delivered), strict=True))
    offsets: dict[int, list[int]] = {}
    for key, place in zip(keys, delivered, strict=True):
        assert place.partition == partitions[key]
        offsets.setdefault(place.partition, []).append(place.offset)
    assert all(found == list(range(len(found))) for found in offsets.values())


def test_an_empty_batch_is_published_at_once(publisher: Publisher) -> None:
    assert publisher.publish_batch([]) == []


def test_a_message_that_can_never_be_sent_is_named_and_others_go_on(publisher: Publisher, topic: str) -> None:
    batch = [outgoing(topic, "ten_a"), outgoing(topic, "ten_b", bytes(2_000_000))]
    with pytest.raises(DeliveryFailed) as caught:
        publisher.publish_batch(batch)
    assert caught.value.failed == {1: "MSG_SIZE_TOO_LARGE"}
    assert caught.value.permanent
    assert publisher.publish_batch(batch[:1])[0].topic == topic


async def test_a_message_too_large_is_refused_at_once(publisher: Publisher, topic: str) -> None:
    with pytest.raises(DeliveryFailed) as caught:
        await publisher.send(topic, b"ten_a", bytes(2_000_000), [])
    assert caught.value.permanent


async def test_a_message_without_a_tenant_is_refused(publisher: Publisher, topic: str) -> None:
    with pytest.raises(ValueError, match="tenant"):
        await publisher.send(topic, b"", b"{}", [])


async def test_a_send_without_a_broker_gives_up_waiting(nowhere: KafkaSettings) -> None:
    publisher = Publisher(nowhere)
    with pytest.raises(KafkaUnavailable):
        await publisher.send("resolution.job.v1", b"ten_a", b"{}", [], timeout_seconds=0.05)
    publisher.close(timeout_seconds=0.01)


async def test_those_who_wait_learn_that_the_producer_was_replaced(nowhere: KafkaSettings) -> None:
    publisher = Publisher(nowhere)
    waiting = asyncio.create_task(publisher.send("resolution.job.v1", b"ten_a", b"{}", [], timeout_seconds=30))
    with pytest.raises(KafkaUnavailable):
        await asyncio.to_thread(publisher.publish_batch, [outgoing("resolution.job.v1", "ten_a")], 0.05)
    with pytest.raises(KafkaUnavailable, match="replaced"):
        await asyncio.wait_for(waiting, 10)
    publisher.close(timeout_seconds=0.01)


def test_a_consumer_begins_at_the_earliest_and_commits_nothing_by_itself(
    settings: KafkaSettings, publisher: Publisher, topic: str
) -> None:
    publisher.publish_batch([outgoing(topic, "ten_a"), outgoing(topic, "ten_a")])
    for _ in range(2):
        consumer = make_consumer(settings, "reader")
        consumer.subscribe([physical(settings, topic)])
        offsets = [message.offset() for message in read(consumer, 2)]
        consumer.close()
        assert offsets == [0, 1]


def test_a_topic_made_again_has_another_id(settings: KafkaSettings, topic: str) -> None:
    before = topic_ids(settings, [topic])
    assert topic_ids(settings, [topic]) == before
    delete_topic(settings, topic)
    ensure_topics(settings, [TOPIC], replication=1)
    after = topic_ids(settings, [topic])
    assert list(after) == [topic]
    assert after != before


class Deleting(Protocol):
    """AdminClient's call, typed where confluent_kafka leaves its futures open."""

    def delete_topics(self, topics: list[str]) -> dict[str, Future[None]]: ...


def delete_topic(settings: KafkaSettings, topic: str) -> None:
    admin = cast("Deleting", AdminClient({"bootstrap.servers": settings.kafka_bootstrap}))
    for deletion in admin.delete_topics([physical(settings, topic)]).values():
        deletion.result()
    deadline = time.monotonic() + 20
    while topic_ids(settings, [topic]):
        assert time.monotonic() < deadline, "the topic is still there"


def test_a_topic_that_does_not_exist_has_no_id(settings: KafkaSettings, topic: str) -> None:
    assert list(topic_ids(settings, [topic, "no.such.topic"])) == [topic]


def test_topics_are_made_once(settings: KafkaSettings) -> None:
    assert ensure_topics(settings, [TOPIC], replication=1) == [TOPIC.name]
    assert ensure_topics(settings, [TOPIC], replication=1) == []


def test_another_partition_count_is_refused(settings: KafkaSettings, topic: str) -> None:
    with pytest.raises(TopicMismatch, match="8 partitions, its file says 4"):
        ensure_topics(settings, [TOPIC.model_copy(update={"partitions": 4})], replication=1)


def test_headers_name_the_envelope_and_its_trace() -> None:
    envelope_id = uuid.UUID("0192f4e2-7c10-7c71-a4b1-0a3f1c2b8d44")
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    assert message_headers(envelope_id, "resolution.job/1", trace) == [
        ("content-type", b"application/json"),
        ("message_id", b"0192f4e2-7c10-7c71-a4b1-0a3f1c2b8d44"),
        ("correlation_id", b"0192f4e2-7c10-7c71-a4b1-0a3f1c2b8d44"),
        ("traceparent", b"00-4bf92f3577b34da6a3ce929d0e0e4736-a4b10a3f1c2b8d44-01"),
        ("schema", b"resolution.job/1"),
    ]


@pytest.mark.parametrize("trace", [None, "", "0" * 32, "4BF92F3577B34DA6A3CE929D0E0E4736", "x"])
def test_a_trace_id_that_w3c_would_refuse_is_replaced_by_the_envelopes(trace: str | None) -> None:
    headers = dict(message_headers("0192f4e2-7c10-7c71-a4b1-0a3f1c2b8d44", "resolution.job/1", trace))
    assert headers["traceparent"] == b"00-0192f4e27c107c71a4b10a3f1c2b8d44-a4b10a3f1c2b8d44-01"
