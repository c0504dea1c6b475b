"""The product's database, topics and processes as a test handles them."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from uuid import uuid4

import psycopg
from assay_contracts.events import AggregateType
from assay_contracts.topics import TOPICS
from assay_product.batch import Report, apply_batch
from assay_product.deliveries import TOPIC, Catalog, Delivery
from assay_product.projection import AttributeRow, ItemRow, MappingRow, Ref, Row, Stamp
from assay_runtime.kafka import Outgoing, Publisher, ensure_topics, make_consumer, physical
from assay_runtime.settings import KafkaSettings
from confluent_kafka import Consumer, Message
from psycopg.rows import TupleRow, dict_row

from .stories import EPOCH, Story

Conn = psycopg.Connection[TupleRow]


class Projection:
    """The product database as apply sees it."""

    def __init__(self, conn: Conn) -> None:
        self.conn = conn

    def apply(self, deliveries: list[Delivery], epoch: str = EPOCH) -> Report:
        """One batch, as the loop commits it."""
        return apply_batch(self.conn, deliveries, epoch)

    def rows(self, catalog: Catalog) -> dict[Ref, Row]:
        """All rows of the live generation, by aggregate."""
        tables: tuple[tuple[AggregateType, type[Row]], ...] = (
            ("item", ItemRow),
            ("mapping", MappingRow),
            ("attribute", AttributeRow),
        )
        found: dict[Ref, Row] = {}
        for table, make in tables:
            query = f"SELECT t.* FROM {table} t JOIN generation g USING (tenant_id, catalog_id, generation)"
            query += " WHERE g.state = 'live' AND tenant_id = %s AND catalog_id = %s"
            for row in self.conn.cursor(row_factory=dict_row).execute(query.encode(), catalog):
                stamp = Stamp(*(row[field.name] for field in fields(Stamp)))
                others = {field.name: row[field.name] for field in fields(make) if field.name != "stamp"}
                made = make(stamp=stamp, **others)
                found[Ref(table, next(iter(others.values())))] = made
        self.conn.commit()
        return found

    def cursor(self, catalog: Catalog) -> tuple[int, int, int, bytes, str | None]:
        """progress, highest, processed, digest, halted."""
        row = self.conn.execute(
            "SELECT progress, highest, processed, digest, halted FROM cursor WHERE tenant_id = %s AND catalog_id = %s",
            catalog,
        ).fetchone()
        self.conn.commit()
        assert row is not None
        return row

    def count(self, table: str, **where: object) -> int:
        """How many rows of a table have these values."""
        terms = " AND ".join(f"{name} = %({name})s" for name in where) or "true"
        row = self.conn.execute(f"SELECT count(*) FROM {table} WHERE {terms}".encode(), where).fetchone()
        self.conn.commit()
        assert row is not None
        return int(row[0])

    def has_published(self, count: int) -> bool:
        """Whether so many dead letters are marked as published."""
        row = self.conn.execute("SELECT count(*) FROM dead_letter WHERE published_at IS NOT NULL").fetchone()
        self.conn.commit()
        return row == (count,)


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Ask again and again; a condition that never holds is a failure."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition never held"
        threading.Event().wait(0.05)


class Broker:
    """The event topics of this test's own installation on the shared Kafka."""

    def __init__(self, bootstrap: str, prefix: str) -> None:
        self.settings = KafkaSettings(kafka_bootstrap=bootstrap, kafka_prefix=prefix)
        ensure_topics(self.settings, [TOPICS[TOPIC], TOPICS[f"{TOPIC}.dlq"]], 1)
        self._publisher = Publisher(self.settings)

    def send(self, story: Story, *positions: int) -> None:
        """Publish these events of a history, or all, in this order."""
        chosen = positions or range(1, len(story.values) + 1)
        self.send_values(story, *(story.values[position - 1] for position in chosen))

    def send_values(self, story: Story, *values: bytes) -> None:
        """Publish values under the key of the history's tenant."""
        key = story.catalog.tenant_id.encode()
        self._publisher.publish_batch([Outgoing(TOPIC, key, value, []) for value in values], 30)

    def read_dead_letters(self, count: int) -> list[Message]:
        """The first records of the dead-letter topic."""
        consumer = make_consumer(self.settings, f"reader-{uuid4().hex}")
        consumer.subscribe([physical(self.settings, f"{TOPIC}.dlq")])
        found: list[Message] = []
        try:
            until(lambda: _collect(consumer, found) >= count)
        finally:
            consumer.close()
        return found

    def close(self) -> None:
        """Let go of the producer."""
        self._publisher.close()


def _collect(consumer: Consumer, found: list[Message]) -> int:
    found += [message for message in consumer.consume(100, 0.5) if message.error() is None]
    return len(found)


class Process:
    """One `python -m assay_product …`, started and ended by a test."""

    def __init__(self, name: str, env: dict[str, str], log: Path) -> None:
        self._path = log
        self._log = log.open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "assay_product", name], env={**os.environ, **env}, stderr=self._log
        )

    def logged(self) -> str:
        """Everything that it wrote."""
        return self._path.read_text()

    def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        """SIGTERM, and the status with which it ends."""
        self._process.terminate()
        return self._process.wait(30)

    def close(self) -> None:
        """End it, whatever it does."""
        if self._process.poll() is None:
            self.kill()
        self._log.close()


Start = Callable[..., Process]
