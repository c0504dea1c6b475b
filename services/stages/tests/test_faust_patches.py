"""Each repair of Faust and aiokafka, on the patched classes; the races themselves are run by test_join_leave."""

import asyncio
import socket
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from aiokafka.client import AIOKafkaClient
from aiokafka.cluster import ClusterMetadata
from assay_stages import faust_patches
from assay_stages.errors import UnfitFaust
from faust.tables.recovery import Recovery
from faust.transport.consumer import Consumer

PATCHED = (
    (Consumer, "_wait_next_records"),
    (Recovery, "on_recovery_completed"),
    (Recovery, "_seek_offsets"),
    (AIOKafkaClient, "_metadata_update"),
)


@pytest.fixture(autouse=True)
def patched() -> Iterator[None]:
    """The patches, for one test."""
    before = [(cls, name, getattr(cls, name)) for cls, name in PATCHED]
    faust_patches.apply()
    yield
    for cls, name, original in before:
        setattr(cls, name, original)


class Draining:
    """A consumer's drain loop that has fetched records and not handed them on yet; Faust's own code around it."""

    def __init__(self) -> None:
        self.flow_active = True
        self.can_resume_flow, self.suspend_flow = asyncio.Event(), asyncio.Event()
        self.not_waiting_next_records = asyncio.Event()
        self.app = SimpleNamespace(client_only=False)
        self.fetched = asyncio.Event()
        self.is_fetching = asyncio.Event()
        self.loop = asyncio.create_task(self._drain())

    stop_flow = Consumer.stop_flow

    async def wait(self, event: asyncio.Event) -> None:
        await event.wait()

    def _get_active_partitions(self) -> set[str]:
        return {"jobs-0"}

    async def _getmany(self, active_partitions: set[str], timeout: float) -> dict[str, list[str]]:  # noqa: ASYNC109 (Faust's)
        self.is_fetching.set()
        await self.fetched.wait()
        return {"jobs-0": ["a record from before the seek"]}

    async def _drain(self) -> None:
        while True:
            await cast("Any", Consumer)._wait_next_records(self, 1.0)


class Seeks:
    """A recovery of that consumer, whose seeks tell whether the drain loop stood still."""

    def __init__(self, consumer: Draining) -> None:
        self.consumer = consumer
        self.parked: list[bool] = []
        flow = SimpleNamespace(suspend=lambda: None, clear=lambda: None)
        self.app = SimpleNamespace(consumer=consumer, flow_control=flow, _fetcher=SimpleNamespace(started=True))

    async def seek(self, *_arguments: object) -> None:
        self.parked.append(getattr(self.consumer, "parked", False))


async def _turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def _assert_waits_for_the_drain_loop(consumer: Draining, seeks: Seeks, seeking: "asyncio.Task[None]") -> None:
    await consumer.is_fetching.wait()
    await _turns()
    assert seeks.parked == [], "a record fetched before the seek would arrive after it"
    consumer.fetched.set()
    async with asyncio.timeout(10):
        await seeking
    assert seeks.parked == [True]
    consumer.loop.cancel()


async def test_a_recovery_seeks_the_sources_only_while_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    consumer = Draining()
    seeks = Seeks(consumer)
    monkeypatch.setattr(faust_patches, "_on_recovery_completed", seeks.seek)
    await consumer.is_fetching.wait()
    seeking = asyncio.create_task(cast("Any", Recovery).on_recovery_completed(seeks, 1))
    await _assert_waits_for_the_drain_loop(consumer, seeks, seeking)


async def test_a_recovery_seeks_the_changelogs_only_while_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    consumer = Draining()
    seeks = Seeks(consumer)
    monkeypatch.setattr(faust_patches, "_seek_offsets", seeks.seek)
    await consumer.is_fetching.wait()
    seeking = asyncio.create_task(cast("Any", Recovery)._seek_offsets(seeks, consumer, set(), {}, "active"))
    await _assert_waits_for_the_drain_loop(consumer, seeks, seeking)


async def test_metadata_is_asked_for_with_a_pause_while_no_broker_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = f"127.0.0.1:{taken.getsockname()[1]}"
    client = cast("Any", AIOKafkaClient(bootstrap_servers=nobody))
    loop = asyncio.get_running_loop()
    began = loop.time()
    assert await client._metadata_update(ClusterMetadata(), []) is False
    assert loop.time() - began >= faust_patches.METADATA_PAUSE_SECONDS
    await client.close()


def test_other_versions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faust_patches, "VERSIONS", {"faust-streaming": "0.0.1"})
    with pytest.raises(UnfitFaust, match=r"its repairs are for 0\.0\.1"):
        faust_patches.apply()


def test_an_installation_without_the_compiled_iterator_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faust.streams._CStreamIterator", None)
    with pytest.raises(UnfitFaust, match="compiled iterator"):
        faust_patches.apply()
