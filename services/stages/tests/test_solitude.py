"""A suspect runs with nothing beside it."""

import asyncio

from assay_stages.solitude import Solitude


async def test_many_may_be_beside_each_other() -> None:
    solitude = Solitude()
    async with asyncio.timeout(5), solitude.beside_others(), solitude.beside_others():
        pass


async def test_who_wants_to_be_alone_waits_for_all_and_goes_before_newcomers() -> None:
    solitude, order, first_may_leave = Solitude(), list[str](), asyncio.Event()

    async def first() -> None:
        async with solitude.beside_others():
            order.append("first in")
            await first_may_leave.wait()
            order.append("first out")

    async def suspect() -> None:
        async with solitude.alone():
            order.append("alone in")
            await asyncio.sleep(0)
            order.append("alone out")

    async def newcomer() -> None:
        async with solitude.beside_others():
            order.append("newcomer in")

    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        for each in (first, suspect, newcomer):
            tasks.create_task(each())
        await _turns()
        assert order == ["first in"]
        first_may_leave.set()
    assert order == ["first in", "first out", "alone in", "alone out", "newcomer in"]


async def test_who_stops_waiting_to_be_alone_holds_up_nobody() -> None:
    solitude = Solitude()
    async with asyncio.timeout(5):
        async with solitude.beside_others():
            waiting = asyncio.create_task(_be_alone(solitude))
            await _turns()
            waiting.cancel()
            await asyncio.wait([waiting])
        async with solitude.beside_others():
            pass


async def _be_alone(solitude: Solitude) -> None:
    async with solitude.alone():
        raise AssertionError("somebody is beside it")


async def _turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)
