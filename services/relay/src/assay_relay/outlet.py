"""Hands events to Kafka in the order given, in batches whose acknowledgements come back while later ones are sent.

One producer at a time. A refusal of any event makes everything in flight worthless: the producer is purged and
replaced, and the caller reads again from its durable marks. `enable.gapless.guarantee` makes librdkafka itself stop at
a refusal, so that nothing behind the refused event of a partition gets through before the purge.
"""

from collections import deque
from typing import cast

from assay_contracts.topics import topic_of
from assay_runtime.kafka import make_producer, physical
from assay_runtime.settings import KafkaSettings
from confluent_kafka import KafkaError, KafkaException, Message, Producer

from assay_relay.errors import DeliveryRefused, EventUnsendable

EVENT = topic_of("catalog.event.v1")
SCHEMA = b"catalog.event/1"
TOO_LARGE = "too_large"
_PERMANENT = frozenset({"MSG_SIZE_TOO_LARGE", "INVALID_MSG_SIZE", "INVALID_RECORD", "INVALID_MSG", "POLICY_VIOLATION"})
_CONSEQUENCES = frozenset({"_PURGE_QUEUE", "_PURGE_INFLIGHT", "_FATAL", "_GAPLESS_GUARANTEE"})
REPORTS_SECONDS = 0.2
"""How long a producer that reports a fatal error has for the reports of the events that it gave up with it."""
_TUNING: dict[str, str | int | bool] = {
    "enable.gapless.guarantee": True,
    "linger.ms": 1,
    "queue.buffering.max.messages": 200_000,
}


class Batch:
    """Events handed over together; complete when every one of them was answered."""

    __slots__ = ("errors", "size_bytes", "total", "unanswered")

    def __init__(self) -> None:
        self.total = 0
        self.unanswered = 0
        self.size_bytes = 0
        self.errors: list[KafkaError] = []

    @property
    def is_to_blame(self) -> bool:
        """Whether one of its own events was refused for what it is."""
        return any(error.name() in _PERMANENT for error in self.errors)

    def on_delivery(self, error: KafkaError | None, _message: Message) -> None:
        """Called by the producer's poll, once for each event."""
        self.unanswered -= 1
        if error is not None:
            self.errors.append(error)


class Outlet:
    """The producer of one relay process."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._topic = physical(settings, EVENT.name)
        self._producer = self._make()
        self._batches: deque[Batch] = deque()

    @property
    def in_flight(self) -> int:
        """Batches handed over and not collected."""
        return len(self._batches)

    def begin(self) -> Batch:
        """Open the batch that the next `send` calls belong to."""
        batch = Batch()
        self._batches.append(batch)
        return batch

    def send(self, batch: Batch, key: bytes, value: bytes, event_id: str) -> bool:
        """Hand over one event; False if the producer's queue is full. EventUnsendable if it can never be sent."""
        if len(value) > EVENT.max_bytes:
            raise EventUnsendable(TOO_LARGE)
        headers = event_headers(event_id)
        try:
            self._producer.produce(self._topic, value, key, headers=headers, on_delivery=batch.on_delivery)
        except BufferError:
            return False
        except KafkaException as error:
            raise _as_unsendable(error) from error
        batch.total += 1
        batch.unanswered += 1
        batch.size_bytes += len(value)
        return True

    def collect(self, wait_seconds: float) -> list[Batch]:
        """The oldest batches, in order, that are complete after at most `wait_seconds`; may raise DeliveryRefused."""
        fatal = self._poll(wait_seconds)
        if fatal is not None:
            self._poll(REPORTS_SECONDS)
        errors = [error for batch in self._batches for error in batch.errors]
        if errors or fatal is not None:
            raise _refusal(errors if fatal is None else [*errors, fatal])
        done: list[Batch] = []
        while self._batches and self._batches[0].unanswered == 0:
            done.append(self._batches.popleft())
        return done

    def replace(self) -> None:
        """Let go of everything in flight and begin anew with another producer."""
        self.close()
        self._producer = self._make()

    def close(self) -> None:
        """Let go of everything in flight."""
        self._producer.purge()
        self._poll(0.0)
        self._batches.clear()

    def _poll(self, seconds: float) -> KafkaError | None:
        """Serve acknowledgements; the error if the producer reports that it cannot go on."""
        try:
            self._producer.poll(seconds)
        except KafkaException as error:
            return cast("KafkaError", error.args[0])
        return None

    def _make(self) -> Producer:
        return make_producer(self._settings, "relay events", _TUNING)


def event_headers(event_id: str) -> list[tuple[str, str | bytes | None]]:
    """What `message_headers` gives for this event, without parsing the id again: a test keeps the two equal."""
    identity = event_id.encode()
    digits = identity.replace(b"-", b"")
    return [
        ("content-type", b"application/json"),
        ("message_id", identity),
        ("correlation_id", identity),
        ("traceparent", b"00-" + digits + b"-" + digits[16:] + b"-01"),
        ("schema", SCHEMA),
    ]


def _as_unsendable(error: KafkaException) -> Exception:
    """The client's own refusal of one event; anything else is a producer that cannot be used any more."""
    code = cast("KafkaError", error.args[0]).name()
    return EventUnsendable(code.lower()) if code in _PERMANENT else DeliveryRefused(code, permanent=False)


def _refusal(errors: list[KafkaError]) -> DeliveryRefused:
    """The first error that is a cause and not a consequence of another."""
    codes = [error.name() for error in errors]
    causes = [code for code in codes if code not in _CONSEQUENCES] or codes
    return DeliveryRefused(causes[0], permanent=causes[0] in _PERMANENT)
