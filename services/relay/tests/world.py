"""A resolver database with streams that grow on demand, and a look at what Kafka has of them."""

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol, cast

import psycopg
import pytest
from assay_contracts.topics import topic
from assay_relay.errors import DeliveryRefused
from assay_relay.events import Relay
from assay_relay.outlet import Outlet
from assay_relay.settings import EventsSettings
from assay_relay.store import Store
from assay_resolver.streams import Stream
from assay_runtime.settings import KafkaSettings
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # pyright: ignore[reportPrivateImportUsage] - documented there
from psycopg.rows import TupleRow
from pydantic import SecretStr

EPOCH = "history-1"
EVENTS = "catalog.event.v1"
DEADLINE_SECONDS = 60.0


def wait_until(condition: Callable[[], bool], what: str, seconds: float = DEADLINE_SECONDS) -> None:
    """Look again and again until it holds; fail with `what` after the deadline."""
    deadline = time.monotonic() + seconds
    pause = time.sleep
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"not within {seconds} s: {what}")
        pause(0.01)


@dataclass
class Outbox:
    """Grows streams as decisions do: position from the locked cursor row, cursor and outbox row in one transaction."""

    admin_dsn: str
    connection: psycopg.Connection[TupleRow] = field(init=False)

    def __post_init__(self) -> None:
        self.connection = self.connect()

    def connect(self) -> psycopg.Connection[TupleRow]:
        """Another connection that commits each statement."""
        return psycopg.connect(self.admin_dsn, autocommit=True)

    def stream(self, tenant: str, catalog: str = "cat_a") -> Stream:
        """A stream with nothing in it."""
        self.connection.execute("INSERT INTO tenant (tenant_id) VALUES (%s) ON CONFLICT DO NOTHING", [tenant])
        key = [tenant, catalog]
        self.connection.execute(
            "INSERT INTO catalog (tenant_id, catalog_id) VALUES (%s, %s) ON CONFLICT DO NOTHING", key
        )
        self.connection.execute(
            "INSERT INTO cursor (tenant_id, catalog_id, history_epoch) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
            [*key, EPOCH],
        )
        return Stream(tenant, catalog, EPOCH)

    def add(
        self,
        stream: Stream,
        count: int = 1,
        size_bytes: int = 200,
        connection: psycopg.Connection[TupleRow] | None = None,
    ) -> None:
        """Append events as one decision."""
        conn = connection or self.connection
        with conn.transaction():
            key = [stream.tenant_id, stream.catalog_id, stream.history_epoch]
            row = conn.execute(
                "SELECT position FROM cursor WHERE (tenant_id, catalog_id, history_epoch) = (%s, %s, %s) FOR UPDATE",
                key,
            ).fetchone()
            assert row is not None
            first = int(row[0]) + 1
            rows = [
                [*key, position, uuid.uuid4(), event_value(stream, position, size_bytes)]
                for position in range(first, first + count)
            ]
            conn.cursor().executemany(
                "INSERT INTO outbox (tenant_id, catalog_id, history_epoch, position, event_id, value)"
                " VALUES (%s, %s, %s, %s, %s, %s)",
                rows,
            )
            conn.execute(
                "UPDATE cursor SET position = position + %s"
                " WHERE (tenant_id, catalog_id, history_epoch) = (%s, %s, %s)",
                [count, *key],
            )

    def published(self) -> dict[Stream, int]:
        """Every stream's mark."""
        rows = self.connection.execute("SELECT tenant_id, catalog_id, history_epoch, published FROM relay_stream")
        return {Stream(*row[:3]): int(row[3]) for row in rows}

    def held(self) -> dict[Stream, str]:
        """Why streams do not go on."""
        rows = self.connection.execute(
            "SELECT tenant_id, catalog_id, history_epoch, held FROM relay_stream WHERE held IS NOT NULL"
        )
        return {Stream(*row[:3]): str(row[3]) for row in rows}

    def unpublished(self) -> int:
        """Events that are not marked yet."""
        row = self.connection.execute(
            "SELECT sum(cursor.position - COALESCE(published, 0))::bigint FROM cursor"
            " LEFT JOIN relay_stream USING (tenant_id, catalog_id, history_epoch)"
        ).fetchone()
        return 0 if row is None or row[0] is None else int(row[0])

    def number(self, statement: str, *parameters: object) -> int:
        """The one number that a statement answers with."""
        row = self.connection.execute(statement.encode(), parameters).fetchone()
        assert row is not None
        return int(row[0])


def event_value(stream: Stream, position: int, size_bytes: int) -> bytes:
    """A value that names its place, incompressible in the part that fills it up."""
    head = json.dumps([stream.tenant_id, stream.catalog_id, stream.history_epoch, position]).encode()
    return head + b" " * max(0, size_bytes - len(head))


class _Admin(Protocol):
    """Topics are made and removed by calls whose futures confluent_kafka leaves open."""

    def create_topics(self, new_topics: list[NewTopic]) -> dict[str, Future[None]]: ...

    def delete_topics(self, topics: list[str]) -> dict[str, Future[None]]: ...


def make_topic(settings: KafkaSettings, name: str, config: dict[str, str]) -> None:
    """A topic that differs from its file."""
    physical = settings.kafka_prefix + name
    wanted = NewTopic(physical, num_partitions=topic(name).partitions, replication_factor=1, config=config)
    admin = _admin(settings)
    admin.create_topics([wanted])[physical].result()


def remove_topic(settings: KafkaSettings, name: str) -> None:
    """Lose a topic with all that is in it."""
    physical = settings.kafka_prefix + name
    admin = _admin(settings)
    admin.delete_topics([physical])[physical].result()


def _admin(settings: KafkaSettings) -> _Admin:
    return cast("_Admin", AdminClient({"bootstrap.servers": settings.kafka_bootstrap}))


class Record(NamedTuple):
    """What Kafka keeps of one message."""

    key: bytes | None
    value: bytes | None
    headers: list[object]


@dataclass(frozen=True)
class TopicLog:
    """The topics of one test, read from their beginning."""

    settings: KafkaSettings

    def read(self, name: str = EVENTS) -> list[Record]:
        """Key, value and headers of all that is there now, each partition in order."""
        physical = self.settings.kafka_prefix + name
        consumer = Consumer({"bootstrap.servers": self.settings.kafka_bootstrap, "group.id": uuid.uuid4().hex})
        found: list[Record] = []
        for partition in range(topic(name).partitions):
            where = TopicPartition(physical, partition, 0)
            _, high = consumer.get_watermark_offsets(where, timeout=10)
            consumer.assign([where])
            position = 0
            while position < high:
                for message in consumer.consume(min(1000, high - position), timeout=1):
                    assert message.error() is None
                    found.append(Record(message.key(), message.value(), list(message.headers() or [])))
                    position = (message.offset() or 0) + 1
        consumer.close()
        return found

    def positions(self) -> dict[Stream, list[int]]:
        """Each stream's positions as they lie in its partition."""
        found: dict[Stream, list[int]] = {}
        for record in self.read():
            assert record.value is not None
            *stream, position = json.loads(record.value)
            found.setdefault(Stream(*stream), []).append(position)
        return found


def in_order(positions: Sequence[int]) -> bool:
    """Whether first occurrences are 1..n in this order."""
    expected = 1
    for position in positions:
        if position > expected:
            return False
        expected = max(expected, position + 1)
    return True


@dataclass
class Processes:
    """Real relay processes of one test."""

    environment: dict[str, str]
    log: Path
    running: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])

    def start(self, name: str = "events", **more: str) -> subprocess.Popen[bytes]:
        """Start one; `more` are further ASSAY_ variables without their prefix."""
        environment = {
            **os.environ,
            **self.environment,
            **{f"ASSAY_{key.upper()}": value for key, value in more.items()},
        }
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "assay_relay", name], env=environment, stderr=log, stdout=log
            )
        self.running.append(process)
        return process

    def end(self) -> None:
        """Kill what is left."""
        for process in self.running:
            process.kill()
            process.wait()


@dataclass
class Hand:
    """One relay that the test turns."""

    relay: Relay
    store: Store
    outlet: Outlet

    def turn(self) -> bool:
        """One turn; a refusal is recovered from as the process does it."""
        try:
            return self.relay.turn(self.store)
        except DeliveryRefused as refusal:
            self.relay.publisher.recover(self.store, refusal)
            return True

    def turn_until(self, condition: Callable[[], bool], what: str) -> None:
        """Turn again and again until it holds."""

        def turned() -> bool:
            self.turn()
            return condition()

        wait_until(turned, what)


@dataclass
class Relays:
    """Relays of one test, all over the same parts unless told otherwise."""

    dsn: str
    kafka: KafkaSettings
    made: list[Hand] = field(default_factory=list[Hand])

    def settings(self, **more: object) -> EventsSettings:
        """Settings of one relay."""
        base = {"dsn": self.dsn, **self.kafka.model_dump(), "relay_lease_seconds": 1.0}
        return EventsSettings.model_validate({**base, **more})

    def make(self, owner: str = "first", kind: type[Relay] = Relay, **more: object) -> Hand:
        """A connected relay that has not turned yet."""
        settings = self.settings(**more)
        outlet = Outlet(settings)
        hand = Hand(kind(settings, owner, outlet), self.store(owner), outlet)
        self.made.append(hand)
        return hand

    def store(self, owner: str) -> Store:
        """A connection as the relay's role."""
        return Store(SecretStr(self.dsn), owner)

    def close(self) -> None:
        """Let go of everything."""
        for hand in self.made:
            hand.outlet.close()
            hand.store.close()
