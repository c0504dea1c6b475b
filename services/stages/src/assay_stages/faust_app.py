# pyright: reportPrivateUsage=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false, reportUnknownParameterType=false
# pyright: reportUntypedFunctionDecorator=false
# Faust is typed in part, and some of what an ordered, safe acknowledgement needs is private in it.
"""The one door to Faust: an app that hands over raw records, acknowledges on demand and tells about its partitions."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableSet, Sequence
from typing import NoReturn, Protocol, cast

import faust
from assay_runtime.kafka import physical
from faust.exceptions import ConsumerNotStarted
from faust.types import TP, StreamT

from assay_stages.settings import StageSettings
from assay_stages.slots import SlotTable

COMMIT_SECONDS = 1.0
MAX_POLL_SECONDS = 86_400.0
"""Above every outage: a worker that holds messages longer than this would leave its group and not come back."""
BUFFER_MESSAGES = 256


class Record(Protocol):
    """A Kafka record as Faust hands it over."""

    @property
    def partition(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def headers(self) -> Sequence[tuple[str, bytes | None]] | None: ...
    @property
    def generation_id(self) -> int: ...


class Event(Protocol):
    """A record on its way through the stream."""

    @property
    def message(self) -> Record: ...


class _Stream(Protocol):
    """What is used of Faust's stream."""

    def noack(self) -> "_Stream": ...
    def events(self) -> AsyncIterator[Event]: ...
    async def ack(self, event: Event) -> bool: ...


class _Consumer(Protocol):
    """What is used of Faust's consumer, in part private."""

    _committed_offset: Mapping[TP, int | None]
    _unacked_messages: MutableSet[Record]

    async def earliest_offsets(self, *partitions: TP) -> Mapping[TP, int | None]: ...
    def on_buffer_full(self, tp: TP) -> None: ...
    def on_buffer_drop(self, tp: TP) -> None: ...
    def assignment(self) -> set[TP]: ...
    def highwater(self, tp: TP) -> int | None: ...


class FaustApp:
    """One stage's app; group and changelog are named after the stage and the installation's prefix."""

    def __init__(self, settings: StageSettings, stage: str, topic: str, partitions: int) -> None:
        """Makes the app without connecting; `partitions` is the topic's count, which the changelog must share."""
        self._app = faust.App(
            physical(settings, f"stage.{stage}"),
            broker=f"kafka://{settings.kafka_bootstrap}",
            key_serializer="raw",
            value_serializer="raw",
            processing_guarantee="at_least_once",
            consumer_auto_offset_reset="earliest",
            consumer_group_instance_id=settings.stages_instance or None,
            web_enabled=False,
            topic_disable_leader=True,
            topic_replication_factor=settings.stages_replication,
            table_standby_replicas=0,
            broker_session_timeout=settings.stages_session_seconds,
            broker_heartbeat_interval=settings.stages_heartbeat_seconds,
            broker_rebalance_timeout=settings.stages_rebalance_seconds,
            broker_request_timeout=max(30.0, settings.stages_session_seconds + 1),
            broker_max_poll_interval=MAX_POLL_SECONDS,
            broker_commit_interval=COMMIT_SECONDS,
            stream_buffer_maxsize=BUFFER_MESSAGES,
            stream_wait_empty=True,
        )
        self._app._create_directories = _keep_nothing_on_disk
        self._topic = physical(settings, topic)
        self._table = self._make_table(partitions) if settings.stages_table else None

        self._stream: _Stream | None = None

    def _make_table(self, partitions: int) -> SlotTable:
        table = self._app.Table("slots", key_type=bytes, value_type=bytes, partitions=partitions)
        return cast("SlotTable", table)

    @property
    def _consumer(self) -> _Consumer:
        return cast("_Consumer", self._app.consumer)

    @property
    def table(self) -> SlotTable | None:
        """The table of done jobs, if settings want one; to be written in the task that handles the record."""
        return self._table

    @property
    def is_rebalancing(self) -> bool:
        """Whether the group is between two assignments, recovery of the table included."""
        return self._app.rebalancing

    @property
    def is_assigned(self) -> bool:
        """Whether the group has given this process its share, which may be none."""
        return self.rebalances > 0 and not self.is_rebalancing

    @property
    def rebalances(self) -> int:
        """How many assignments began."""
        return self._app.rebalancing_count

    def deliver(
        self,
        take: Callable[[Event], Awaitable[None]],
        *,
        failed: Callable[[Exception], NoReturn],
        stopped: Callable[[], None],
    ) -> None:
        """Register who takes the records, one at a time and in order.

        An error that left the agent would acknowledge a record and make the next stop hang: `failed` ends the process.
        """
        topic = self._app.topic(self._topic, key_type=bytes, value_type=bytes)

        @self._app.agent(topic, name="jobs")
        async def agent(stream: StreamT[bytes]) -> None:  # pyright: ignore[reportUnusedFunction] - registered
            self._stream = cast("_Stream", stream)
            try:
                async for event in self._stream.noack().events():
                    await take(event)
            except Exception as error:  # nothing may be raised into Faust
                failed(error)
            finally:
                stopped()

    async def ack(self, event: Event) -> None:
        """Let the offset move past this record, once those before it are acknowledged."""
        if self._stream is not None:
            await self._stream.ack(event)

    def forget(self, event: Event) -> None:
        """Do not wait for this record any more when partitions are revoked: it will come again."""
        self._consumer._unacked_messages.discard(event.message)

    def is_current(self, event: Event) -> bool:
        """Whether the record belongs to the assignment that now holds; one of an earlier one comes again, somewhere."""
        return not self._app.rebalancing and event.message.generation_id == self._app.consumer_generation_id

    async def first_offset(self, event: Event) -> int:
        """Where an assignment must begin: at the committed offset, or where the log now begins if that is later."""
        partition = TP(self._topic, event.message.partition)
        committed = self._consumer._committed_offset.get(partition) or 0
        if event.message.offset <= committed:
            return committed
        earliest = await self._consumer.earliest_offsets(partition)
        return max(committed, earliest[partition] or 0)

    def hold_back(self, partition: int) -> None:
        """Fetch no more of a partition; what is fetched already still comes."""
        self._consumer.on_buffer_full(TP(self._topic, partition))

    def let_flow(self, partition: int) -> None:
        """Fetch again. Only within an assignment: a recovery must not see source records."""
        if not self._app.rebalancing and not self._app.in_recovery:
            self._consumer.on_buffer_drop(TP(self._topic, partition))

    def lag(self) -> int:
        """Messages of the assigned partitions that are not committed, as far as the last fetch saw."""
        consumer = self._consumer
        try:
            assigned = [tp for tp in consumer.assignment() if tp.topic == self._topic]
        except ConsumerNotStarted:
            return 0
        ends = {tp: consumer.highwater(tp) or 0 for tp in assigned}
        return sum(max(0, end - (consumer._committed_offset.get(tp) or 0)) for tp, end in ends.items())

    async def start(self) -> None:
        """Join the group and begin to deliver; returns before the first assignment."""
        await self._app.start()

    async def crashed(self) -> BaseException | None:
        """Wait until the app has crashed or stopped by itself; the reason, if it has one."""
        await self._app.wait_until_stopped()
        return self._app.crash_reason

    async def stop(self) -> None:
        """Finish what has begun, commit, and leave the group."""
        await self._app.stop()


def _keep_nothing_on_disk() -> None:
    """In the place of Faust's own: tables live in memory and in Kafka, so a process needs no folder of its own."""
