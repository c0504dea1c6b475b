"""Halts a process whose database was restored to an older moment and does not know it.

The history clock rises in the resolver database; a relay copies it to the compacted topic `history.witness.v1`, outside
of that database. Every process compares both each second: the witness is read first and the database after it, so that
a sound database is never found behind. One that is behind was restored: the process stops its work, stays alive and not
ready, and says why, until an operator has advanced the history epoch and started it again.

What is away proves nothing: without Kafka, without the topic, or without the database nothing is compared, and nothing
halts. A relay must not raise the clock before its first comparison: see `Watch.is_sound`.
"""

import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple
from uuid import UUID

import psycopg
from assay_contracts.decoder import decode_document
from assay_contracts.errors import InvalidMessage
from confluent_kafka import Consumer, KafkaException, TopicPartition
from psycopg.rows import TupleRow
from pydantic import SecretStr

from assay_runtime import sql
from assay_runtime.health import Health
from assay_runtime.kafka.clients import physical
from assay_runtime.logs import get_logger
from assay_runtime.postgres import session_arguments
from assay_runtime.settings import KafkaSettings
from assay_runtime.stop import Stop

TOPIC: Final = "history.witness.v1"
COMPARE_SECONDS: Final = 1.0
KAFKA_SECONDS: Final = 3.0
TAIL_RECORDS: Final = 1_000
"""Compaction leaves many records of the last hours; the latest of a database that lives is among the last."""

_SQL = sql.load("assay_runtime", "history_clock")

log = get_logger()


class Mark(NamedTuple):
    """How far a history has come: first by its incarnation, then by its clock."""

    ordinal: int
    clock: int
    epoch: str

    def is_behind(self, other: "Mark") -> bool:
        """Whether the other one has seen more."""
        return (self.ordinal, self.clock) < (other.ordinal, other.clock)

    def __str__(self) -> str:
        return f"{self.epoch} clock {self.clock}"


def read_mark(connection: psycopg.Connection[TupleRow]) -> tuple[UUID, Mark]:
    """Which database this is, and how far it has come."""
    row = connection.execute(_SQL["read_clock"]).fetchone()
    assert row is not None, "a migration writes the clock and the first epoch"
    return row[0], Mark(*row[1:])


class WitnessReader:
    """Follows the topic for one database, without a group of its own."""

    def __init__(self, settings: KafkaSettings, database_id: UUID) -> None:
        self._key = database_id.hex.encode()
        self._where = TopicPartition(physical(settings, TOPIC), 0)
        self._consumer = Consumer(
            {
                "bootstrap.servers": settings.kafka_bootstrap,
                "group.id": physical(settings, "history.witness"),
                "enable.auto.commit": False,
                "allow.auto.create.topics": False,
            }
        )
        self._next = -1
        self.highest: Mark | None = None

    def catch_up(self) -> Mark | None:
        """The highest mark that the topic holds now. Raises KafkaException while it cannot be read."""
        low, high = self._consumer.get_watermark_offsets(self._where, timeout=KAFKA_SECONDS)
        if self._next < 0:
            self._begin(low, high)
        while self._next < high:
            messages = self._consumer.consume(500, KAFKA_SECONDS)
            if not messages:
                raise KafkaException("the witness was not delivered in time")
            for message in messages:
                error = message.error()
                if error is not None:
                    raise KafkaException(error)
                self._next = (message.offset() or 0) + 1
                if message.key() == self._key:
                    self._take(message.value())
        return self.highest

    def close(self) -> None:
        """Let go of the broker."""
        self._consumer.close()

    def _begin(self, low: int, high: int) -> None:
        """From the tail; if this database is not in it, from the beginning, once."""
        self._next = max(low, high - TAIL_RECORDS)
        self._consumer.assign([TopicPartition(self._where.topic, 0, self._next)])
        if self.catch_up() is None and low < high - TAIL_RECORDS:
            self._next = low
            self._consumer.assign([TopicPartition(self._where.topic, 0, low)])

    def _take(self, value: str | bytes | None) -> None:
        try:
            found = decode_document(TOPIC, value.encode() if isinstance(value, str) else value or b"")
        except InvalidMessage as error:
            log.warning("witness.unreadable", reason=error.reason)
            return
        mark = Mark(found.ordinal, found.clock, found.history_epoch)
        if self.highest is None or self.highest.is_behind(mark):
            self.highest = mark


class Watch:
    """Compares in a thread of its own from `start` to `close`; `stop` is the work's: a signal or a halt sets it."""

    def __init__(self, settings: KafkaSettings, dsn: SecretStr, health: Health) -> None:
        self.stop = Stop(install=False)
        self.highest: Mark | None = None
        self._settings = settings
        self._dsn = dsn
        self._health = health
        self._sound = threading.Event()
        self._connection: psycopg.Connection[TupleRow] | None = None
        self._reader: WitnessReader | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="witness", daemon=True)

    @property
    def is_sound(self) -> bool:
        """Whether the database was compared with its witness, and not found behind, since the last `doubt`."""
        return self._sound.is_set()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """End the comparing."""
        self._over.set()
        self._thread.join(3 * KAFKA_SECONDS)

    def doubt(self) -> None:
        """The database was away and may be another one now."""
        self._sound.clear()

    def halt(self, database: Mark, witness: Mark) -> None:
        """Stop the work for good, and say why."""
        why = f"the database is at {database}, its witness saw {witness}: it was restored, advance the history epoch"
        log.critical("history.behind", why=why, history_epoch=database.epoch)
        self._health.halt(why)
        self.stop.set()

    def _run(self) -> None:
        while not self._over.is_set() and not self.stop.is_set():
            try:
                self._compare()
            except (psycopg.Error, KafkaException) as error:
                log.warning("witness.waits", error_type=type(error).__name__)
                self._forget()
            self._over.wait(COMPARE_SECONDS)
        self._forget()

    def _compare(self) -> None:
        if self._connection is None:
            arguments = session_arguments(self._dsn, "history witness")
            self._connection = psycopg.connect(self._dsn.get_secret_value(), autocommit=True, **arguments)  # pyright: ignore[reportArgumentType] - libpq takes texts and numbers
        if self._reader is None:
            database_id, _ = read_mark(self._connection)
            self._reader = WitnessReader(self._settings, database_id)
        witness = self._reader.catch_up()
        _, database = read_mark(self._connection)
        self.highest = witness
        if witness is not None and database.is_behind(witness):
            self.halt(database, witness)
        else:
            self._sound.set()

    def _forget(self) -> None:
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
        if self._reader is not None:
            self._reader.close()
        self._connection, self._reader = None, None


@contextmanager
def watching(settings: KafkaSettings, dsn: SecretStr, health: Health, stop: Stop) -> Generator[Watch]:
    """Watch for as long as the block runs its work under `watch.stop`.

    After a halt the block's end waits for the signal, so that the process stays and can be asked why. An empty broker
    list watches nothing.
    """
    watch = Watch(settings, dsn, health)
    threading.Thread(target=_pass_on, args=(stop, watch.stop), name="stop", daemon=True).start()
    if settings.kafka_bootstrap:
        watch.start()
    else:
        log.warning("witness.unwatched", why="ASSAY_KAFKA_BOOTSTRAP is not set")
    try:
        yield watch
        if health.halted is not None:
            stop.wait()
    finally:
        if settings.kafka_bootstrap:
            watch.close()


def _pass_on(asked: Stop, stop: Stop) -> None:
    asked.wait()
    stop.set()
