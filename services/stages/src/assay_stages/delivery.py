"""③ Delivery: Faust hands over the records of a stage's partitions, this decides when and in which order they run.

Authority: Postgres says what is done, Kafka's committed offset where to begin; nothing here is remembered over a
restart. A term is a generation of the consumer group: what was taken in one is dropped at its end unless it has begun.
Order: serial per key (tenant), concurrent across keys; offsets are acknowledged in order per partition.
Nothing is ever raised into Faust, which would acknowledge the record and hang: a message whose dependency is away is
held and repeated, and an error of this shell ends the process. A crash at any step means redelivery, and the handler
finds out from the job's row what was done.
"""

import asyncio
from collections.abc import Callable
from typing import NoReturn

from assay_resolver.dead_letters import Origin
from assay_runtime.failpoints import failpoint
from assay_runtime.logs import get_logger

from assay_stages import metrics
from assay_stages.errors import OffsetGap
from assay_stages.failures import Wait, classify
from assay_stages.faust_app import Event, FaustApp
from assay_stages.handling import Handler, Verdict
from assay_stages.ordered_acks import OrderedAcks, Taken
from assay_stages.watchdog import ExitStatus, die

log = get_logger()

HOLD_SECONDS = 1.0
MOST_IN_HAND = 128
"""Records of one partition in hand, beyond which no more of it are fetched; other partitions go on."""
FEW_IN_HAND = 32


class Delivery:
    """The shell of one process between Faust and the handler; lives on the event loop's thread."""

    def __init__(self, app: FaustApp, handler: Handler, origin_of: Callable[[Event], Origin], concurrency: int) -> None:
        """`origin_of` names the record as a dead letter would keep it; `concurrency` bounds the jobs at work."""
        self._app = app
        self._handler = handler
        self._origin_of = origin_of
        self._at_work = asyncio.Semaphore(concurrency)
        self._acks = OrderedAcks[Event](app.ack)
        self._last_of_key: dict[bytes | None, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._held_back: set[int] = set()
        self._held: dict[int, str] = {}
        self._stopping = False

    @property
    def held(self) -> str | None:
        """What held messages wait for, or None."""
        return next(iter(self._held.values()), None)

    def stop(self) -> None:
        """Begin nothing more and let go of what is held; what has begun goes on to its end."""
        self._stopping = True

    def fail(self, error: Exception) -> NoReturn:
        """The stream itself failed."""
        die(ExitStatus.AGENT_FAILED, f"{type(error).__name__}: {error}")

    def cancel(self) -> None:
        """The stream is over: whatever still runs is redelivered later."""
        for task in self._tasks:
            task.cancel()

    async def take(self, event: Event) -> None:
        """Accept the next record of a partition; waits for nothing but Kafka's earliest offset."""
        try:
            taken = await self._line_up(event)
        except OffsetGap as error:
            die(ExitStatus.OFFSET_GAP, str(error))
        metrics.MESSAGES_IN.inc()
        metrics.IN_HAND.inc()
        self._hold_back(event.message.partition)
        key = event.message.key
        task = asyncio.create_task(self._run(taken, self._last_of_key.get(key)))
        self._last_of_key[key] = task
        self._tasks.add(task)
        task.add_done_callback(lambda ended: self._on_end(key, ended))

    async def _line_up(self, event: Event) -> Taken[Event]:
        record = event.message
        if not self._acks.is_begun(record.partition, record.generation_id):
            self._acks.begin(record.partition, record.generation_id, await self._app.first_offset(event))
        return self._acks.take(record.partition, record.offset, event)

    async def _run(self, taken: Taken[Event], before: asyncio.Task[None] | None) -> None:
        """Wait for the key's turn, then for a place, and bring the record to an end or let go of it."""
        if before is not None:
            await asyncio.wait([before])
        async with self._at_work:
            verdict = await self._handle(taken.event)
        if verdict is None:
            self._let_go(taken)
            return
        metrics.MESSAGES_HANDLED.labels(verdict.value).inc()
        failpoint("stages.before_ack")
        await self._acks.finish(taken)
        self._let_flow(taken.partition)
        if not self._is_ours(taken.event):
            self._app.forget(taken.event)

    def _let_go(self, taken: Taken[Event]) -> None:
        """No revocation need wait for this record, nor for those behind it that can no more be acknowledged."""
        self._app.forget(taken.event)
        for event in self._acks.finished_in_hand(taken):
            self._app.forget(event)

    async def _handle(self, event: Event) -> Verdict | None:
        """The verdict, however long a dependency is away; None if the record is somebody else's by now."""
        origin = self._origin_of(event)
        try:
            while self._is_ours(event):
                try:
                    return await self._handler.handle(origin)
                except Exception as error:  # the loop's own: whatever the handler could not write down is held
                    self._hold(event, error)
                await self._pause(event)
        finally:
            self._release(event)
        return None

    def _is_ours(self, event: Event) -> bool:
        return not self._stopping and self._app.is_current(event)

    def _hold(self, event: Event, error: Exception) -> None:
        failure = classify(error)
        why = failure.why if isinstance(failure, Wait) else f"{failure.reason}: {failure.cause}"
        if self._held.get(id(event)) != why:
            log.warning("message.held", why=why, partition=event.message.partition, offset=event.message.offset)
        self._held[id(event)] = why
        metrics.HELD.set(len(self._held))

    def _release(self, event: Event) -> None:
        self._held.pop(id(event), None)
        metrics.HELD.set(len(self._held))

    async def _pause(self, event: Event) -> None:
        """HOLD_SECONDS, less if the record stops being ours."""
        for _ in range(10):
            if not self._is_ours(event):
                return
            await asyncio.sleep(HOLD_SECONDS / 10)

    def _hold_back(self, partition: int) -> None:
        """Asked at each record, since Faust's own buffer may have let the partition flow again."""
        if self._acks.in_hand(partition) >= MOST_IN_HAND:
            self._app.hold_back(partition)
            self._held_back.add(partition)

    def _let_flow(self, partition: int) -> None:
        if partition in self._held_back and self._acks.in_hand(partition) <= FEW_IN_HAND:
            self._held_back.discard(partition)
            self._app.let_flow(partition)

    def _on_end(self, key: bytes | None, task: asyncio.Task[None]) -> None:
        metrics.IN_HAND.dec()
        self._tasks.discard(task)
        if self._last_of_key.get(key) is task:
            del self._last_of_key[key]
        error = None if task.cancelled() else task.exception()
        if error is not None:
            die(ExitStatus.DELIVERY_FAILED, f"{type(error).__name__}: {error}")
