"""Pruning races registration, leases and progress: no hole for anybody, and it is never stuck.

`make races N=10000` runs the long form. Mutants that a race, or a plain order of acts, catches are kept beside it.
"""

import asyncio
import os
import random
from collections.abc import Awaitable, Callable

import pytest
from assay_relay.api.errors import Gone
from assay_relay.floors import Pruner, Raise
from assay_relay.store.pruning import Limit, PruneStore
from assay_resolver.streams import Stream
from pydantic import SecretStr

from .retention_world import Retention

ROUNDS = int(os.environ.get("ASSAY_TEST_RACES", "200"))
SEED = int(os.environ.get("ASSAY_TEST_SEED", "1"))
SECONDS = 60.0 + ROUNDS


class Arena:
    """A few streams, two pruners that race each other, one steady reader, and the acts that race them."""

    def __init__(self, retained: Retention, dice: random.Random) -> None:
        self.retained = retained
        self.dice = dice
        self.streams = [retained.stream(catalog=f"cat_{n}") for n in range(4)]
        self.acts: list[Callable[[Stream], Awaitable[None]]] = [
            self.lease_and_leave,
            self.lease_that_expires,
            self.register_and_go,
            self.report_some,
        ]
        self.names = 0

    async def lease_and_leave(self, stream: Stream) -> None:
        """A rebuild that pins, reads, moves on and releases."""
        lease = await self.retained.lease(stream)
        head = (await self.retained.read(stream, lease.position) or [lease.position])[-1]
        moved = await self.retained.move(lease, self.dice.randint(lease.position, head))
        assert await self.retained.read(stream, moved.position) == list(range(moved.position + 1, head + 1))
        await self.retained.release(moved)

    async def lease_that_expires(self, stream: Stream) -> None:
        """A rebuild that is late: either its renewal holds, or it is told that all is lost."""
        lease = await self.retained.lease(stream, seconds=self.dice.uniform(0.0005, 0.01))
        self.retained.forget(lease.lease_id)
        try:
            moved = await self.retained.move(lease, lease.position)
        except Gone:
            return
        assert await self.retained.holes(stream) == []
        await self.retained.release(moved)

    async def register_and_go(self, stream: Stream) -> None:
        """A new consumer that reads from the floor that it was told."""
        self.names += 1
        name = f"reader_{self.names}"
        await self.retained.register(name)
        start = self.retained.promised[name, stream]
        if read := await self.retained.read(stream, start):
            await self.retained.report(name, stream, self.dice.choice(read))
        assert await self.retained.holes(stream) == []
        await self.retained.unregister(name)

    async def report_some(self, stream: Stream) -> None:
        """The steady reader comes further."""
        at = self.retained.promised["steady", stream]
        if read := await self.retained.read(stream, at):
            await self.retained.report("steady", stream, self.dice.choice(read))


async def test_prune_raced_with_leases_registrations_and_progress_makes_no_hole(retained: Retention) -> None:
    arena = Arena(retained, random.Random(SEED))
    await retained.register("steady")
    rival_store = PruneStore(SecretStr(retained.database.dsn("assay_relay_prune")))
    pruners = [retained.pruner(), retained.pruner(store=rival_store)]
    for _ in range(ROUNDS):
        stream = arena.dice.choice(arena.streams)
        retained.grow(stream, arena.dice.randint(0, 3))
        act = arena.dice.choice(arena.acts)
        other = arena.dice.choice(arena.acts)
        await asyncio.wait_for(
            asyncio.gather(
                *(asyncio.to_thread(pruner.prune) for pruner in pruners),
                act(stream),
                other(arena.dice.choice(arena.streams)),
            ),
            60,
        )
        assert await retained.holes() == []
    heads = {stream: retained.grow(stream, 1) for stream in arena.streams}
    for stream, head in heads.items():
        await retained.report("steady", stream, head)
    await retained.prune()
    assert {stream: retained.floor(stream) for stream in arena.streams} == heads
    rival_store.close()


test_prune_raced_with_leases_registrations_and_progress_makes_no_hole = pytest.mark.timeout(SECONDS)(
    test_prune_raced_with_leases_registrations_and_progress_makes_no_hole
)


class MinimumOfPresentRows(PruneStore):
    """Wrong: asks only the progress rows that there are."""

    def find_limits(self, streams: object = None) -> list[Limit]:
        rows = self._connection.execute(
            "SELECT s.tenant_id, s.catalog_id, s.history_epoch, COALESCE(f.pruned_through, 0), f.digest,"
            " LEAST(s.published, (SELECT min(p.position) FROM consumer_progress p WHERE p.tenant_id = s.tenant_id"
            " AND p.catalog_id = s.catalog_id AND p.history_epoch = s.history_epoch))"
            " FROM relay_stream s LEFT JOIN stream_floor f USING (tenant_id, catalog_id, history_epoch)"
        )
        return [Limit(Stream(*row[:3]), row[3], row[4] or bytes(32), row[5]) for row in rows]


class RaiseWhatWasSeen(Pruner):
    """Wrong: trusts what it saw before it had the lock."""

    def raise_now(self, proposals: list[Raise]) -> None:
        with self._store.control():
            for one in proposals:
                self._store.raise_floor(one.limit.stream, one.until, one.digest)

    def propose(self) -> list[Raise]:
        return list(self._proposals(self._store.find_limits()))


async def test_a_minimum_over_present_rows_is_caught(retained: Retention) -> None:
    stream = retained.stream()
    retained.grow(stream, 5)
    await retained.register("spoken")
    await retained.register("silent")
    await retained.report("spoken", stream, 5)
    wrong = MinimumOfPresentRows(SecretStr(retained.database.dsn("assay_relay_prune")))
    await retained.prune(retained.pruner(store=wrong))
    wrong.close()
    assert await retained.holes() == ["silent cat_a 0: floor 5"]


@pytest.mark.parametrize("comes", ["lease", "consumer"])
async def test_pruning_by_what_was_seen_before_the_lock_is_caught(retained: Retention, comes: str) -> None:
    stream = retained.stream()
    retained.grow(stream, 5)
    await retained.register("reader")
    await retained.report("reader", stream, 5)
    wrong = RaiseWhatWasSeen(retained.store, 0.0, 100)
    proposals = wrong.propose()
    if comes == "lease":
        await retained.lease(stream)
    else:
        await retained.register("late")
    await asyncio.to_thread(wrong.raise_now, proposals)
    assert len(await retained.holes()) == 1


@pytest.mark.parametrize("comes", ["lease", "consumer"])
async def test_who_comes_before_the_lock_is_not_pruned_over(retained: Retention, comes: str) -> None:
    stream = retained.stream()
    retained.grow(stream, 5)
    await retained.register("reader")
    await retained.report("reader", stream, 5)

    class Interrupted(Pruner):
        """The other one comes between the look and the lock."""

        def _raise(self, proposals: list[Raise]) -> int:
            loop.call_soon_threadsafe(go.set)
            asyncio.run_coroutine_threadsafe(done.wait(), loop).result(10)
            return super()._raise(proposals)

    loop, go, done = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
    pruning = asyncio.create_task(asyncio.to_thread(retained.pruner(Interrupted).prune))
    await go.wait()
    await (retained.lease(stream) if comes == "lease" else retained.register("late"))
    done.set()
    assert await pruning == 0
    assert await retained.holes() == []
