"""The disk is freed a partition at a time, beside readers and writers, and a laggard's rows are kept elsewhere."""

import asyncio

import pytest
from assay_relay.partitions import Dropper
from assay_runtime import failpoints
from assay_runtime.errors import FailpointRaised

from .retention_world import WIDTH, Retention, admin


async def _drop_all(dropper: Dropper, high: int = WIDTH) -> None:
    """Rounds until all below an id is settled and nothing more leaves the disk."""
    deadline = asyncio.get_running_loop().time() + 60
    idle = 0
    while idle < 2:
        assert asyncio.get_running_loop().time() < deadline, "other transactions of the server hold the horizon back"
        moved = await asyncio.to_thread(dropper.drop)
        idle = 0 if moved or dropper.settled_below < high else idle + 1


async def _drop_in_vain(dropper: Dropper) -> None:
    """Some rounds, whatever comes of them."""
    for _ in range(5):
        assert not await asyncio.to_thread(dropper.drop)


async def test_partitions_are_ranges_made_ahead_without_a_default(retained: Retention) -> None:
    found = retained.store.list_partitions()
    assert [(one.low, one.high) for one in found] == [(n * 1_000_000, (n + 1) * 1_000_000) for n in range(len(found))]
    assert len(found) >= 3
    default = retained.outbox.number("SELECT partdefid FROM pg_partitioned_table WHERE partrelid = 'outbox'::regclass")
    assert default == 0


async def test_a_partition_wholly_below_the_floors_leaves_the_disk(retained: Retention) -> None:
    stream = retained.stream()
    retained.grow(stream, 5)
    retained.next_partition()
    retained.grow(stream, 2)
    await retained.register("reader")
    await retained.report("reader", stream, 6)
    await _drop_all(retained.dropper(keep_rows=0))
    assert retained.partitions()[0] == "outbox_0"
    await retained.prune()
    await _drop_all(retained.dropper())
    assert retained.partitions()[0] == "outbox_1"
    assert await retained.read(stream, 6) == [7]
    assert await retained.holes() == []


async def test_one_laggards_rows_are_kept_and_hold_nobody_elses_disk(retained: Retention) -> None:
    quick, slow = retained.stream(catalog="cat_quick"), retained.stream(catalog="cat_slow")
    retained.grow(quick, 50)
    retained.grow(slow, 5)
    retained.next_partition()
    retained.grow(slow, 2)
    await retained.register("reader")
    await retained.report("reader", quick, 50)
    await retained.report("reader", slow, 2)
    await retained.prune()
    await _drop_all(retained.dropper(keep_rows=2))
    assert "outbox_0" in retained.partitions()
    await _drop_all(retained.dropper(keep_rows=3))
    assert "outbox_0" not in retained.partitions()
    assert await retained.read(slow, 2) == [3, 4, 5, 6, 7]
    await retained.report("reader", slow, 4)
    await retained.prune()
    assert retained.store.trim_kept() == 2
    assert await retained.read(slow, 4) == [5, 6, 7]


async def test_an_unpublished_event_keeps_its_partition(retained: Retention) -> None:
    stream = retained.stream()
    retained.grow(stream, 5)
    retained.publish(stream, 4)
    retained.next_partition()
    retained.grow(retained.stream(catalog="cat_next"), 1)
    await retained.register("reader")
    await retained.report("reader", stream, 5)
    await retained.prune()
    await _drop_all(retained.dropper())
    assert retained.partitions()[0] == "outbox_0"


async def test_a_late_row_of_an_old_partition_is_waited_for(retained: Retention) -> None:
    """A writer that has an id of the oldest partition and has not committed is not dropped over."""
    stream = retained.stream()
    retained.grow(stream, 3)
    await retained.register("reader")
    await retained.report("reader", stream, 3)
    await retained.prune()
    late = retained.stream(catalog="cat_late")
    with admin(retained.database) as writer, writer.transaction():
        retained.outbox.add(late, 1, connection=writer)
        retained.next_partition()
        retained.grow(stream, 1)
        await _drop_in_vain(retained.dropper())
        assert retained.partitions()[0] == "outbox_0"
    assert await retained.read(late, 0) == [1]


async def test_a_reader_in_the_way_costs_a_round_and_stops_no_writer(retained: Retention) -> None:
    stream = retained.stream()
    retained.grow(stream, 5)
    retained.next_partition()
    retained.grow(retained.stream(catalog="cat_next"), 1)
    await retained.register("reader")
    await retained.report("reader", stream, 5)
    await retained.prune()
    dropper = retained.dropper(lock_milliseconds=200)
    with admin(retained.database) as reader, reader.transaction():
        reader.execute("SELECT count(*) FROM outbox")
        dropping = asyncio.create_task(_drop_in_vain(dropper))
        while not dropping.done():
            retained.grow(stream, 1)
            await asyncio.sleep(0)
        await dropping
        assert len(await retained.read(stream, 5)) >= 1
    await _drop_all(dropper)
    assert retained.partitions()[0] == "outbox_1"
    assert await retained.holes() == []


@pytest.mark.parametrize("edge", ["prune.after_keep", "prune.after_detach"])
async def test_a_crash_between_keep_detach_and_drop_loses_nothing(retained: Retention, edge: str) -> None:
    quick, slow = retained.stream(catalog="cat_quick"), retained.stream(catalog="cat_slow")
    retained.grow(quick, 20)
    retained.grow(slow, 3)
    retained.next_partition()
    retained.grow(slow, 1)
    await retained.register("reader")
    await retained.report("reader", quick, 20)
    await retained.prune()
    failpoints.arm(f"{edge}=raise")
    with pytest.raises(FailpointRaised):
        await _drop_all(retained.dropper())
    failpoints.arm("")
    assert await retained.read(slow, 0) == [1, 2, 3, 4]
    await _drop_all(retained.dropper())
    assert "outbox_0" not in retained.partitions()
    assert retained.store.list_detached() == []
    assert await retained.read(slow, 0) == [1, 2, 3, 4]
    assert await retained.holes() == []


@pytest.mark.parametrize("edge", ["prune.before_lock", "prune.before_commit", "prune.after_commit"])
async def test_a_crash_around_the_raise_leaves_it_done_or_undone(retained: Retention, edge: str) -> None:
    stream = retained.stream()
    retained.grow(stream, 5)
    await retained.register("reader")
    await retained.report("reader", stream, 5)
    failpoints.arm(f"{edge}=raise")
    with pytest.raises(FailpointRaised):
        await retained.prune()
    failpoints.arm("")
    assert retained.floor(stream) == (5 if edge == "prune.after_commit" else 0)
    await retained.prune()
    assert retained.floor(stream) == 5


async def test_pages_read_while_partitions_go_have_no_hole(retained: Retention) -> None:
    quick, slow = retained.stream(catalog="cat_quick"), retained.stream(catalog="cat_slow")
    await retained.register("reader")
    dropper = retained.dropper()
    for n in range(1, 9):
        retained.grow(quick, 20)
        retained.grow(slow, 2)
        retained.next_partition()
        retained.grow(quick, 1)
        await retained.report("reader", quick, 21 * n)
        await retained.prune()
        dropping = asyncio.create_task(_drop_all(dropper, n * WIDTH))
        while not dropping.done():
            assert await retained.read(slow, 0) == list(range(1, 2 * n + 1))
        await dropping
    assert len(retained.partitions()) <= 4
