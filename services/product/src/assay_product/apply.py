"""⑦ the loop that turns `catalog.event.v1` into the projection.

The product's own database is authoritative for how far Kafka was read; the group's committed offset is a copy. The
order within a turn: effects and own offsets in one transaction, then the offsets to Kafka. After a crash before the
transaction nothing happened; after it, the start offset is the database's own; a rebalance in the middle lets another
process read the same records, and the lock of each stream's row makes the second one see repeats.

An outage of Postgres or Kafka holds the batch in memory and repeats it: nothing is lost, no process restarts, and
readiness says what it waits for.
"""

import time
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast
from uuid import UUID

from assay_runtime.failpoints import failpoint
from assay_runtime.health import Health
from assay_runtime.kafka import Publisher, make_consumer, physical
from assay_runtime.logs import get_logger
from assay_runtime.postgres import SyncPool
from assay_runtime.stop import Stop
from confluent_kafka import Consumer, KafkaException, Message, TopicPartition
from psycopg import Error

from assay_product import batch, metrics
from assay_product.assignment import place
from assay_product.batch import Report
from assay_product.dead_letters import Sweep
from assay_product.deliveries import TOPIC, Catalog, Delivery
from assay_product.errors import Stopped
from assay_product.reporting import Reporter
from assay_product.settings import ApplySettings
from assay_product.store.batch import list_held, measure_holds
from assay_product.waiting import Patience, is_overtime, may_pass

GROUP = "product.apply"
IDLE_SECONDS = 0.2
UPKEEP_SECONDS = 2.0
DEFECTS_IN_A_ROW = 10
"""Events refused by the database one after another before the process halts: then this release is broken, not they."""

log = get_logger()


class Applier:
    """One consumer of the event topic, from `run` to its return."""

    def __init__(self, settings: ApplySettings, pool: SyncPool, stop: Stop, health: Health) -> None:
        self._settings = settings
        self._pool = pool
        self._stop = stop
        self._health = health
        self._patience = Patience(stop, health)
        self._consumer = make_consumer(settings, GROUP)
        self._sweep = Sweep(pool, lambda: Publisher(settings, "product.apply"))
        self._reporter = Reporter(settings, pool)
        self._topic_id: UUID | None = None
        self._defects = 0
        self._upkeep_due = 0.0

    def run(self) -> None:
        """Turn until asked to stop, or until halted and then asked."""
        self._consumer.subscribe([physical(self._settings, TOPIC)], on_assign=self._on_assign)
        self._health.started()
        self._reporter.start()
        try:
            while not self._stop.is_set() and self._health.halted is None:
                self._turn()
            self._stop.wait()
        except Stopped:
            log.info("apply.stopped", why="asked to while it waited")
        finally:
            self._reporter.close()
            self._consumer.close()
            self._sweep.close()

    def _turn(self) -> None:
        self._health.progress()
        deliveries = self._take()
        if deliveries:
            self._apply(deliveries)
        if time.monotonic() >= self._upkeep_due:
            self._patience.until_possible(self._keep_up)
            self._upkeep_due = time.monotonic() + UPKEEP_SECONDS

    def _take(self) -> list[Delivery]:
        first = self._consumer.poll(IDLE_SECONDS)
        if first is None:
            return []
        more = self._consumer.consume(self._settings.batch_events - 1, 0) if self._settings.batch_events > 1 else []
        return [self._delivery(message) for message in (first, *more) if self._is_record(message)]

    def _is_record(self, message: Message) -> bool:
        error = message.error()
        if error is None:
            return True
        log.warning("kafka.error", error=error.str(), code=error.name())
        if error.fatal():
            raise KafkaException(error)
        return False

    def _delivery(self, message: Message) -> Delivery:
        partition, offset = message.partition(), message.offset()
        assert self._topic_id is not None, "partitions are read after they were placed"
        assert partition is not None, "a consumed record has a partition"
        assert offset is not None, "a consumed record has an offset"
        headers = cast("list[tuple[str, bytes | None]]", message.headers() or [])
        return Delivery(
            TOPIC, self._topic_id, partition, offset, _bytes(message.key()), _bytes(message.value()), headers
        )

    def _apply(self, deliveries: list[Delivery]) -> None:
        """Commit all of them, in parts if they do not go through as one."""
        parts = deque([deliveries])
        while parts and not self._stop.is_set() and self._health.halted is None:
            part = parts.popleft()
            report = self._patience.until_possible(lambda part=part: self._try(part))
            if report is None:
                middle = len(part) // 2
                parts.extendleft([part[middle:], part[:middle]])
            else:
                _count(report)
                self._commit(part)

    def _try(self, part: Sequence[Delivery]) -> Report | None:
        """Apply; None asks for smaller parts. An event that fails alone is kept as a dead letter."""
        started = time.perf_counter()
        try:
            with self._pool.connection() as conn:
                report = batch.apply_batch(conn, part, self._settings.history_epoch)
        except Error as error:
            if may_pass(error) and (len(part) == 1 or not is_overtime(error)):
                raise
            if len(part) > 1:
                return None
            return self._give_up(part[0], error)
        self._defects = 0
        metrics.BATCH_SECONDS.observe(time.perf_counter() - started)
        metrics.BATCH_EVENTS.observe(len(part))
        return report

    def _give_up(self, delivery: Delivery, error: Error) -> Report | None:
        self._defects += 1
        log.error(
            "event.cannot_apply",
            partition=delivery.partition,
            offset=delivery.offset,
            sqlstate=error.sqlstate,
            constraint=error.diag.constraint_name,
        )
        if self._defects >= DEFECTS_IN_A_ROW:
            self._health.halt(f"{self._defects} events in a row cannot be applied")
            return None
        with self._pool.connection() as conn:
            return batch.keep_unappliable(conn, delivery, _cause(error), self._settings.history_epoch)

    def _commit(self, part: Sequence[Delivery]) -> None:
        offsets = {delivery.partition: delivery.offset + 1 for delivery in part}
        name = physical(self._settings, TOPIC)
        try:
            self._consumer.commit(
                offsets=[TopicPartition(name, partition, offset) for partition, offset in offsets.items()],
                asynchronous=True,
            )
        except KafkaException as error:
            metrics.COMMITS_FAILED.inc()
            log.warning("offsets.uncommitted", error=str(error))
        failpoint("product.after_offsets")

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._topic_id, placed = self._patience.until_possible(
            lambda: place(consumer, partitions, self._settings, self._pool)
        )
        consumer.assign(placed)
        log.info("partitions.assigned", count=len(placed), topic_id=str(self._topic_id))

    def _keep_up(self) -> None:
        """Release what nothing holds any more, measure what is held, and publish dead letters."""
        with self._pool.connection() as conn:
            held = list_held(conn)
        for catalog in held:
            self._release(catalog)
        with self._pool.connection() as conn:
            streams, halted, parked, missing = measure_holds(conn)
        metrics.HELD.set(streams)
        metrics.HALTED.set(halted)
        metrics.PARKED.set(parked)
        metrics.MISSING.set(missing)
        self._sweep.run()

    def _release(self, catalog: Catalog) -> None:
        released = 1
        while released and not self._stop.is_set():
            self._health.progress()
            with self._pool.connection() as conn:
                report = batch.release(conn, catalog, self._settings.history_epoch)
            released = report.released
            _count(report)


def _cause(error: Error) -> str:
    return f"{error.sqlstate}: {error.diag.message_primary} ({error.diag.constraint_name})"


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def _count(report: Report) -> None:
    for outcome in ("applied", "ignored", "repeated", "parked", "released"):
        metrics.EVENTS.labels(outcome).inc(getattr(report, outcome))
    for reason, count in report.refused.items():
        metrics.REFUSED.labels(reason).inc(count)
        log.warning("events.refused", reason=reason, count=count)
    for catalog, why in report.halted.items():
        log.error("stream.halted", tenant_id=catalog.tenant_id, catalog_id=catalog.catalog_id, why=why)
    metrics.PASSED.inc(report.passed)
    ages = [(datetime.now(UTC) - moment).total_seconds() for moment in report.occurred]
    for age in ages:
        metrics.EVENT_AGE.observe(age)
    if ages:
        metrics.PROJECTION_AGE.set(max(ages))
