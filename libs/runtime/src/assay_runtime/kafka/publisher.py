"""Hands messages to Kafka and tells what it acknowledged: one at a time from asyncio, or a batch from a thread.

Who is authoritative: the caller's database. A message counts as published only once its Delivered was seen and noted;
whatever ends before that is published again, so every reader must expect repeats.

After a delivery error or a time-out in a batch, everything still queued or in flight is purged and the producer is
replaced before the call returns, so that nothing handed over earlier can overtake what the caller reads again.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import NamedTuple, Self, cast

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from assay_runtime.errors import DeliveryFailed, KafkaUnavailable
from assay_runtime.kafka.clients import make_producer, physical
from assay_runtime.settings import KafkaSettings

Headers = Sequence[tuple[str, bytes | None]]

_POLL_SECONDS = 0.05
_PERMANENT = frozenset(
    {
        "MSG_SIZE_TOO_LARGE",
        "INVALID_MSG_SIZE",
        "RECORD_LIST_TOO_LARGE",
        "INVALID_RECORD",
        "INVALID_MSG",
        "POLICY_VIOLATION",
    }
)
_PURGED = frozenset({"_PURGE_QUEUE", "_PURGE_INFLIGHT"})

_OnDelivery = Callable[[KafkaError | None, Message], None]


class Outgoing(NamedTuple):
    """A message to publish; `topic` is the name without the installation's prefix, `key` the tenant's id.

    `verbatim`: the copy of a record that was given up on, which may have had any key, or none, and no value.
    """

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers
    verbatim: bool = False


class Delivered(NamedTuple):
    """Where Kafka put a message; `topic` is the name without the installation's prefix."""

    topic: str
    partition: int
    offset: int


class _Batch:
    """Collects the answers to one batch, in whichever thread polls."""

    def __init__(self, messages: Sequence[Outgoing]) -> None:
        self.messages = messages
        self.delivered: dict[int, Delivered] = {}
        self.failed: dict[int, KafkaError] = {}

    def on_delivery(self, index: int, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self.delivered[index] = _delivered(self.messages[index].topic, message)
        else:
            self.failed[index] = error

    @property
    def is_settled(self) -> bool:
        return bool(self.failed) or len(self.delivered) == len(self.messages)


class Publisher:
    """One producer for the life of a process; replaces it by itself when it can no longer be trusted."""

    def __init__(self, settings: KafkaSettings, client_id: str = "assay") -> None:
        """Make and warm the producer: blocks until the broker answers, at most 2 s."""
        self._settings = settings
        self._client_id = client_id
        self._producer = make_producer(settings, client_id)
        self._replacing = threading.Lock()
        self._closing = threading.Event()
        self._poller: threading.Thread | None = None

    async def send(
        self, topic: str, key: bytes, value: bytes, headers: Headers, timeout_seconds: float = 10.0
    ) -> Delivered:
        """Publish one message and wait for the acknowledgement of all replicas.

        KafkaUnavailable after `timeout_seconds` means unknown: the message stays queued and may be delivered later, and
        sending it again may deliver it twice. DeliveryFailed means that Kafka or the client refused it.
        """
        producer = self._producer
        message = Outgoing(topic, key, value, headers)
        try:
            return await asyncio.wait_for(self._acknowledgement(producer, message), timeout_seconds)
        except TimeoutError:
            raise KafkaUnavailable(f"{topic}: no acknowledgement within {timeout_seconds} s") from None
        except DeliveryFailed as failure:
            if failure.fatal:
                await asyncio.to_thread(self._replace, producer)
            raise

    def publish_batch(self, messages: Sequence[Outgoing], timeout_seconds: float = 10.0) -> list[Delivered]:
        """Publish all and wait for all; the answers are in the order of the messages. Blocks: call it from a thread.

        At the first refusal or when the time is over the rest is purged and the producer replaced: DeliveryFailed
        names the refused ones, KafkaUnavailable none. Part of the batch may have been delivered in both cases.
        """
        deadline = time.monotonic() + timeout_seconds
        batch = _Batch(messages)
        producer = self._producer
        try:
            self._produce_all(producer, batch, deadline)
            while not batch.is_settled and time.monotonic() < deadline:
                producer.poll(_POLL_SECONDS)
        except DeliveryFailed:
            self._replace(producer)
            raise
        if not batch.failed and batch.is_settled:
            return [batch.delivered[index] for index in range(len(messages))]
        refused = dict(batch.failed)
        self._replace(producer)
        raise _failure(refused) if refused else KafkaUnavailable(f"no acknowledgement within {timeout_seconds} s")

    def close(self, timeout_seconds: float = 5.0) -> None:
        """Wait a little for what is queued, then let go of it."""
        self._producer.flush(timeout_seconds)
        self._closing.set()
        if self._poller is not None:
            self._poller.join()
        _discard(self._producer)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()

    async def _acknowledgement(self, producer: Producer, message: Outgoing) -> Delivered:
        self._start_polling()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Delivered] = loop.create_future()

        def on_delivery(error: KafkaError | None, answer: Message) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_resolve, future, message.topic, error, answer)

        if not _try_produce(producer, physical(self._settings, message.topic), message, on_delivery):
            raise KafkaUnavailable("the queue of unsent messages is full")
        return await future

    def _produce_all(self, producer: Producer, batch: _Batch, deadline: float) -> None:
        names = {topic: physical(self._settings, topic) for topic in {message.topic for message in batch.messages}}
        for index, message in enumerate(batch.messages):
            on_delivery = partial(batch.on_delivery, index)
            while not _try_produce(producer, names[message.topic], message, on_delivery, index):
                producer.poll(_POLL_SECONDS)
                if batch.failed or time.monotonic() > deadline:
                    return

    def _start_polling(self) -> None:
        if self._poller is None:
            self._poller = threading.Thread(target=self._poll, name="kafka-poll", daemon=True)
            self._poller.start()

    def _poll(self) -> None:
        while not self._closing.is_set():
            self._producer.poll(_POLL_SECONDS)

    def _replace(self, distrusted: Producer) -> None:
        with self._replacing:
            if self._producer is distrusted:
                self._producer = make_producer(self._settings, self._client_id)
                _discard(distrusted)


def _try_produce(producer: Producer, name: str, message: Outgoing, on_delivery: _OnDelivery, index: int = 0) -> bool:
    """Hand a message to the client; False if its queue is full."""
    if not message.key and not message.verbatim:
        raise ValueError("a message needs its tenant as key")
    try:
        producer.produce(name, message.value, message.key, headers=list(message.headers), on_delivery=on_delivery)
    except BufferError:
        return False
    except KafkaException as error:
        raise _failure({index: cast("KafkaError", error.args[0])}) from error
    return True


def _resolve(future: asyncio.Future[Delivered], topic: str, error: KafkaError | None, message: Message) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(_delivered(topic, message))
    elif error.name() in _PURGED:
        future.set_exception(KafkaUnavailable("the producer was replaced before the acknowledgement came"))
    else:
        future.set_exception(_failure({0: error}))


def _delivered(topic: str, message: Message) -> Delivered:
    partition, offset = message.partition(), message.offset()
    if partition is None or offset is None:
        raise ValueError("an acknowledged message has a partition and an offset")
    return Delivered(topic, partition, offset)


def _failure(failed: Mapping[int, KafkaError]) -> DeliveryFailed:
    return DeliveryFailed(
        {index: error.name() for index, error in failed.items()},
        permanent=any(error.name() in _PERMANENT for error in failed.values()),
        fatal=any(error.fatal() for error in failed.values()),
    )


def _discard(producer: Producer) -> None:
    """Drop everything it holds and serve the callbacks of what was dropped."""
    producer.purge()
    producer.flush(1.0)
