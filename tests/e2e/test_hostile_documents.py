"""Hostile documents, over HTTP and straight to Kafka: each is answered or is one dead letter, and nothing stops."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from uuid import UUID

import httpx
import psycopg
import pytest
from assay_cli.check.log import EVENTS, JOBS, Log, Record
from assay_cli.check.sources import read_offsets
from assay_cli.local_check import ROLE
from assay_cli.stack import Stack
from assay_contracts.errors import REASONS
from assay_contracts.vectors import Vector, read_vectors
from assay_runtime.kafka import make_producer, physical, topic_ids
from assay_runtime.settings import KafkaSettings
from confluent_kafka import KafkaError, Message

from .conftest import Open
from .pages import offered_twice, page_of
from .shop import CATALOG, Shop, eventually

TENANT: Final = b"ten_nordlicht"
"""Of the documents in the vectors; the installation does not know it."""
FLUSH_SECONDS: Final = 60.0
DATABASES: Final = {JOBS: "resolver", EVENTS: "product"}
UNKNOWN: Final = b',"priority":{"lane":[1,null]},"Attempt":7}'
"""Fields that no envelope has."""

Place = tuple[int, int]
"""Partition and offset."""


@dataclass(frozen=True)
class Letter:
    """A row that was given up on."""

    reason: str
    key: bytes | None
    value: bytes | None


def vectors_of(carrier: str) -> list[Vector]:
    return [vector for vector in read_vectors() if vector.carrier == carrier]


def key_of(vector: Vector) -> bytes | None:
    return vector.key if vector.keyed else TENANT


def settings_of(stack: Stack) -> KafkaSettings:
    return KafkaSettings(kafka_bootstrap=stack.installation.kafka.bootstrap)


def produce(stack: Stack, topic: str, records: Sequence[tuple[bytes | None, bytes | None]]) -> list[Place]:
    """Where Kafka put each of these keys and values."""
    settings = settings_of(stack)
    producer = make_producer(settings, "hostile")
    places: dict[int, Place] = {}

    def keep(number: int, error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        places[number] = cast("Place", (message.partition(), message.offset()))

    for number, (key, value) in enumerate(records):
        producer.produce(
            physical(settings, topic), value, key, on_delivery=lambda error, message, n=number: keep(n, error, message)
        )
        producer.poll(0)
    assert producer.flush(FLUSH_SECONDS) == 0
    return [places[number] for number in range(len(records))]


def letters(stack: Stack, topic: str) -> dict[Place, Letter]:
    """Every dead letter of the topic, by the place of its record."""
    topic_id: UUID = topic_ids(settings_of(stack), [topic])[topic]
    query = 'SELECT partition, "offset", reason, key, value FROM dead_letter WHERE topic_id = %s'
    with psycopg.connect(stack.installation.database(DATABASES[topic]).dsn(ROLE)) as connection:
        rows = connection.execute(query, [topic_id]).fetchall()
    return {(partition, offset): Letter(*rest) for partition, offset, *rest in rows}


def given_up(stack: Stack, topic: str, places: Sequence[Place]) -> dict[Place, Letter]:
    """The letters of these records, once each has its own and every group has passed it."""

    def look() -> dict[Place, Letter] | None:
        found = letters(stack, topic)
        return {place: found[place] for place in places} if found.keys() >= set(places) else None

    written = eventually("each has its dead letter", look)
    eventually("every group has passed them", lambda: has_passed(stack, topic, places) or None)
    return written


def has_passed(stack: Stack, topic: str, places: Sequence[Place]) -> bool:
    """Whether every group that reads the topic has committed an offset behind each of these records."""
    offsets = read_offsets(settings_of(stack))
    groups = offsets.stages.values() if topic == JOBS else [offsets.apply]
    return all(group.get(partition, 0) > offset for group in groups for partition, offset in places)


def copies(stack: Stack, topic: str, places: Sequence[Place]) -> dict[Place, list[Record]]:
    """What the dead-letter topic has of these records, once it has something of each."""
    topic_id = str(topic_ids(settings_of(stack), [topic])[topic])

    def look() -> dict[Place, list[Record]] | None:
        found: dict[Place, list[Record]] = {place: [] for place in places}
        with Log(settings_of(stack), f"{topic}.dlq") as log:
            for record in log.records():
                told = {name: value for name, value in record.headers if value is not None}
                said = [told.get(f"dlq-{field}", b"").decode() for field in PLACE]
                if said[0] == topic_id:
                    found.get((int(said[1]), int(said[2])), []).append(record)
        return found if all(found.values()) else None

    return eventually("each dead letter has its copy", look)


PLACE: Final = ("topic-id", "partition", "offset")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("topic", [JOBS, EVENTS])
def test_each_hostile_message_ends_as_one_dead_letter(stack: Stack, open_shop: Open, topic: str) -> None:
    """Also those that can be read: nobody promised this job, and the event is of another history."""
    shop = open_shop("ten_hostile")
    vectors = vectors_of(topic)
    records = [(key_of(vector), vector.value) for vector in vectors]
    places = produce(stack, topic, records)
    assert shop.ended(shop.hand_in(page_of(offered_twice(1)[0])))["state"] == "done", "nobody waits behind them"
    found, copied = given_up(stack, topic, places), copies(stack, topic, places)
    assert len(set(places)) == len(vectors) > 200
    differing = [
        (vector.name, found[place].reason)
        for vector, place in zip(vectors, places, strict=True)
        if found[place].reason != vector.reason and (vector.reason or found[place].reason in REASONS)
    ]
    assert differing == []
    assert [(found[place].key, found[place].value) for place in places] == records, "they are kept byte for byte"
    assert {len(copied[place]) for place in places} == {1}
    assert [copied[place][0].value or b"" for place in places] == [value or b"" for _, value in records]
    assert Counter(place for place in letters(stack, topic) if place in found) == Counter(places)


def test_unknown_fields_change_no_outcome_and_survive_in_the_dead_letter(stack: Stack, open_shop: Open) -> None:
    shop = open_shop("ten_unknown")
    vectors = [vector for vector in vectors_of(JOBS) if vector.name in ("example_two_artifacts", "version_true")]
    grown = [(vector.value or b"")[:-1] + UNKNOWN for vector in vectors]
    both = [vector.value for vector in vectors] + grown
    places = produce(stack, JOBS, [(TENANT, value) for value in both])
    found = given_up(stack, JOBS, places)
    reasons = [found[place].reason for place in places]
    assert reasons[: len(vectors)] == reasons[len(vectors) :]
    assert [found[place].value for place in places] == both
    assert [copied.value for (copied,) in copies(stack, JOBS, places).values()] == both
    assert shop.items() == []


def test_each_hostile_request_is_answered_with_the_verdict_of_its_vector(open_shop: Open) -> None:
    shop = open_shop("ten_asking")
    differing: list[object] = []
    for vector in vectors_of("capture.v1"):
        answer = hand_in(shop, vector.value or b"")
        told = cast("dict[str, Any]", answer.json())
        assert 400 <= answer.status_code < 500, (vector.name, answer.status_code)
        said = (told["code"], told.get("pointer")) if told["code"] in REASONS else None
        if said != ((vector.reason, vector.pointer) if vector.reason else None):
            differing.append((vector.name, told))
    assert differing == []
    assert shop.ended(shop.hand_in(page_of(offered_twice(1)[0])))["state"] == "done"


def hand_in(shop: Shop, metadata: bytes) -> httpx.Response:
    """The metadata as it is, and no artifact."""
    files = {"metadata": (None, metadata, "application/json")}
    return shop.client.http.post(f"{shop.client.addresses['intake']}/v1/captures", files=files)


@pytest.mark.parametrize("path", ["cases/case_none/decisions", "items/item_none/pins"])
def test_each_hostile_answer_of_a_person_is_refused(open_shop: Open, path: str) -> None:
    shop = open_shop("ten_answering")
    url = f"{shop.client.addresses['resolver']}/v1/{path}?catalog_id={CATALOG}"
    headers = {"Idempotency-Key": "hostile-1", "Content-Type": "application/json"}
    for vector in vectors_of("capture.v1"):
        answer = shop.client.http.post(url, content=vector.value or b"", headers=headers)
        assert 400 <= answer.status_code < 500, (vector.name, answer.status_code)
        code = answer.json()["code"]
        assert code == vector.reason or code not in REASONS or answer.status_code == 413, (vector.name, code)
