"""Raises the history clock and copies it to its witness, so that a restored database can be told from the one that was.

The order: compare with the witness, raise the clock in the database (durably), send the record, and count it once Kafka
has it. Events are published only while the last record that Kafka acknowledged is young: whatever a reader has seen of
this history, a witness of about that moment lies beside it. What a database lost in less than that time shows in
product, which halts a stream that offers another event at a known position.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from assay_contracts.encoder import encode_document
from assay_contracts.timestamps import timestamp
from assay_contracts.witness import HistoryWitness
from assay_runtime.kafka import make_producer, physical
from assay_runtime.logs import get_logger
from assay_runtime.settings import KafkaSettings
from assay_runtime.witness import TOPIC, Mark, Watch
from confluent_kafka import KafkaError, Message

from assay_relay import metrics
from assay_relay.store import Store

TICK_SECONDS: Final = 1.0
YOUNG_SECONDS: Final = 3.0
"""A record may be so old for events to follow it: a tick and the time that Kafka takes."""

log = get_logger()


class Clock:
    """The clock as one relay raises it; several relays raise it together."""

    def __init__(self, settings: KafkaSettings, watch: Watch, clock: Callable[[], float] = time.monotonic) -> None:
        self._topic = physical(settings, TOPIC)
        self._producer = make_producer(settings, "relay witness")
        self._watch = watch
        self._clock = clock
        self._next_tick = clock()
        self._witnessed_at = -YOUNG_SECONDS - 1.0 + clock()

    @property
    def is_witnessed(self) -> bool:
        """Whether events may be published now."""
        return self._watch.is_sound and self._clock() - self._witnessed_at < YOUNG_SECONDS

    def turn(self, store: Store) -> None:
        """Take acknowledgements, and tick if a second is over and the database is known to be sound."""
        self._producer.poll(0.0)
        now = self._clock()
        if now < self._next_tick or not self._watch.is_sound:
            return
        seen = self._watch.highest
        database_id, mark = store.tick()
        if seen is not None and not seen.is_behind(mark):
            self._watch.halt(mark, seen)
            return
        self._send(database_id, mark, now)
        self._next_tick = now + TICK_SECONDS

    def doubt(self) -> None:
        """The connection was lost: what answers now may be another database."""
        self._watch.doubt()

    def _send(self, database_id: UUID, mark: Mark, now: float) -> None:
        record = HistoryWitness(
            database_id=database_id.hex,
            history_epoch=mark.epoch,
            ordinal=mark.ordinal,
            clock=mark.clock,
            written_at=timestamp(datetime.now(UTC)),
        )

        def on_delivery(error: KafkaError | None, _message: Message) -> None:
            if error is not None:
                log.warning("witness.unsent", code=error.name())
                return
            metrics.CLOCK.set(mark.clock)
            self._witnessed_at = max(self._witnessed_at, now)

        try:
            self._producer.produce(
                self._topic, encode_document(record), database_id.hex.encode(), on_delivery=on_delivery
            )
        except BufferError:
            log.warning("witness.unsent", code="queue_full")

    def close(self) -> None:
        """Let go of the broker; a record in flight may be lost, the next relay sends a later one."""
        self._producer.purge()
        self._producer.poll(0.0)
