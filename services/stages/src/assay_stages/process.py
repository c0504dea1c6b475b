"""One stage as a process: what it opens, how it says that it lives, and how it ends."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from uuid import UUID

from assay_contracts.topics import TOPICS
from assay_resolver.dead_letters import Origin
from assay_runtime.errors import KafkaUnavailable
from assay_runtime.health import Health
from assay_runtime.kafka import Publisher, topic_ids
from assay_runtime.logs import get_logger
from assay_runtime.postgres import AsyncPool, open_async_pool
from assay_runtime.stop import Stop

from assay_stages import faust_patches, metrics
from assay_stages.announcing import Announcer
from assay_stages.delivery import Delivery
from assay_stages.faust_app import Event, FaustApp
from assay_stages.handling import TOPIC, Handler
from assay_stages.settings import StageSettings
from assay_stages.slots import Slots
from assay_stages.watchdog import (
    ExitStatus,
    RebalanceWatch,
    StopTimer,
    die,
    expect_no_more_turns,
    expect_turn_within,
)
from assay_stages.work import Work

log = get_logger()

TURN_SECONDS = 1.0
LOOP_STANDS_SECONDS = 120.0
"""A loop that does not turn for this long is held by something that never ends, such as a runaway expression."""


class StageProcess:
    """The life of one stage's process."""

    def __init__(self, settings: StageSettings, health: Health, stop: Stop) -> None:
        """Opens nothing; call `run`."""
        self._settings = settings
        self._health = health
        self._stop = stop

    async def run(self, work: Work, pool: AsyncPool) -> bool:
        """Deliver jobs to `work` until asked to stop; False if Faust crashed instead."""
        ids = await self._topic_ids()
        if ids is None:
            return True
        faust_patches.apply()
        app = FaustApp(self._settings, work.stage, TOPIC, TOPICS[TOPIC].partitions)
        publisher = await asyncio.to_thread(Publisher, self._settings, f"stage.{work.stage}")
        try:
            handler = Handler(work, pool, Announcer(publisher, pool, ids), Slots(app.table))
            delivery = Delivery(app, handler, _origins(ids[TOPIC]), self._settings.stages_concurrency)
            app.deliver(delivery.take, failed=delivery.fail, stopped=delivery.cancel)
            async with self._watched(app), self._turning(app, delivery):
                return await self._deliver(app, delivery)
        finally:
            await asyncio.to_thread(publisher.close)

    async def _topic_ids(self) -> Mapping[str, UUID] | None:
        """The broker's ids of the topic, as soon as the broker has it; None if a stop comes first."""
        while not self._stop.is_set():
            try:
                ids = await asyncio.to_thread(topic_ids, self._settings, [TOPIC])
            except KafkaUnavailable:
                ids = {}
            if TOPIC in ids:
                return ids
            self._health.progress()
            self._health.ready(False, f"Kafka is away or has no topic {TOPIC}")
            await self._wait(TURN_SECONDS)
        return None

    async def _deliver(self, app: FaustApp, delivery: Delivery) -> bool:
        await app.start()
        self._health.started()
        asked, crashed = asyncio.create_task(self._stop.waited()), asyncio.create_task(app.crashed())
        await asyncio.wait([asked, crashed], return_when=asyncio.FIRST_COMPLETED)
        self._health.ready(False, "stopping")
        timer = StopTimer(self._settings.stages_grace_seconds)
        delivery.stop()
        reason = crashed.result() if crashed.done() else None
        await app.stop()
        timer.cancel()
        asked.cancel()
        crashed.cancel()
        if reason is not None:
            log.critical("faust.crashed", error_type=type(reason).__name__, error=str(reason))
        return reason is None

    @asynccontextmanager
    async def _watched(self, app: FaustApp) -> AsyncGenerator[None]:
        limit_seconds = self._settings.stages_stuck_seconds
        watch = RebalanceWatch(lambda: app.is_rebalancing, self._kafka_answers, limit_seconds)
        watch.start()
        try:
            yield
        finally:
            watch.close()

    def _kafka_answers(self) -> bool:
        try:
            return TOPIC in topic_ids(self._settings, [TOPIC])
        except KafkaUnavailable:
            return False

    @asynccontextmanager
    async def _turning(self, app: FaustApp, delivery: Delivery) -> AsyncGenerator[None]:
        ticker = asyncio.create_task(self._turn(app, delivery))
        ticker.add_done_callback(_end_with)
        try:
            yield
        finally:
            ticker.cancel()
            expect_no_more_turns()

    async def _turn(self, app: FaustApp, delivery: Delivery) -> None:
        """Say once a second what is going on."""
        rebalances = 0
        while True:
            expect_turn_within(LOOP_STANDS_SECONDS)
            self._health.progress()
            if not self._stop.is_set():
                why = delivery.held or ("" if app.is_assigned else "partitions are being assigned")
                self._health.ready(not why, why)
            metrics.LAG.set(app.lag())
            metrics.REBALANCES.inc(app.rebalances - rebalances)
            rebalances = app.rebalances
            await asyncio.sleep(TURN_SECONDS)

    async def _wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._stop.waited(), seconds)
        except TimeoutError:
            return


def _end_with(ticker: asyncio.Task[None]) -> None:
    """A process that cannot say how it fares must not go on in silence."""
    if not ticker.cancelled():
        die(ExitStatus.TURN_FAILED, repr(ticker.exception()))


def _origins(topic_id: UUID) -> Callable[[Event], Origin]:
    def origin_of(event: Event) -> Origin:
        record = event.message
        headers = tuple(record.headers or ())
        return Origin(topic_id, TOPIC, record.partition, record.offset, record.key, record.value, headers)

    return origin_of


@asynccontextmanager
async def open_pool(settings: StageSettings, stage: str) -> AsyncGenerator[AsyncPool]:
    """The stage's connections."""
    async with await open_async_pool(settings.dsn, settings.pool_min, settings.pool_max, f"stage.{stage}") as pool:
        yield pool
