"""A process that can deliver no more ends itself, and only then."""

import threading
import time

from assay_stages.reader_threads import ReaderThreads
from assay_stages.watchdog import ExitStatus, RebalanceWatch

from .world import wait_for


def _watch(
    ends: list[ExitStatus], *, rebalancing: bool, kafka: bool, asked: threading.Event | None = None
) -> RebalanceWatch:
    def answers() -> bool:
        if asked is not None:
            asked.set()
        return kafka

    watch = RebalanceWatch(
        lambda: rebalancing, answers, 0.05, lambda status, _why: ends.append(status), turn_seconds=0.01
    )
    watch.start()
    return watch


def test_a_rebalance_that_never_ends_ends_the_process() -> None:
    ends = list[ExitStatus]()
    watch = _watch(ends, rebalancing=True, kafka=True)
    wait_for(lambda: ends)
    watch.close()
    assert ends[0] == ExitStatus.REBALANCE_STUCK == 74


def test_an_outage_of_kafka_restarts_nothing() -> None:
    ends, asked = list[ExitStatus](), threading.Event()
    watch = _watch(ends, rebalancing=True, kafka=False, asked=asked)
    assert asked.wait(10)
    asked.clear()
    assert asked.wait(10), "it begins to count anew"
    watch.close()
    assert ends == []


def test_a_worker_in_its_group_is_left_alone() -> None:
    ends, asked = list[ExitStatus](), threading.Event()
    watch = _watch(ends, rebalancing=False, kafka=True, asked=asked)
    assert not asked.wait(0.2)
    watch.close()
    assert ends == []


async def test_a_parser_that_hangs_ends_the_process() -> None:
    ends, may_end = list[ExitStatus](), threading.Event()

    def end(status: ExitStatus, _why: str) -> None:
        ends.append(status)
        may_end.set()

    threads = ReaderThreads(0.05, end)
    await threads.run(lambda: may_end.wait(10))
    assert ends == [ExitStatus.READER_HANGS]
    threads.close()


async def test_a_parser_runs_off_the_loop_and_hands_over_its_result() -> None:
    threads = ReaderThreads(10)
    loop_thread = threading.get_ident()
    began = time.monotonic()
    assert await threads.run(threading.get_ident) != loop_thread
    assert time.monotonic() - began < 10
    threads.close()
