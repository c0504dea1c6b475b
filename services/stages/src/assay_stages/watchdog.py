"""Ends a process that can no longer deliver, so that a new one takes its partitions; a restart is always harmless."""

import faulthandler
import os
import threading
from collections.abc import Callable
from enum import IntEnum
from typing import NoReturn

from assay_runtime.logs import get_logger

log = get_logger()


class ExitStatus(IntEnum):
    """Why a stage ended itself."""

    OFFSET_GAP = 70
    AGENT_FAILED = 71
    DELIVERY_FAILED = 72
    READER_HANGS = 73
    REBALANCE_STUCK = 74
    STOP_TOO_SLOW = 75
    TURN_FAILED = 76


def die(status: ExitStatus, why: str) -> NoReturn:
    """End the process at once, without clean-up: what is not committed is delivered again."""
    log.critical("process.ends_itself", status=int(status), name=status.name.lower(), why=why)
    os._exit(status)


class RebalanceWatch:
    """A thread that ends the process when a rebalance never ends, although Kafka answers.

    A worker that was put out of its group does not come back by itself, alive and silent. While Kafka is away no
    rebalance can end, and a restart would not help: then the count begins anew.
    """

    def __init__(
        self,
        is_rebalancing: Callable[[], bool],
        kafka_answers: Callable[[], bool],
        limit_seconds: float,
        end_process: Callable[[ExitStatus, str], None] = die,
        turn_seconds: float = 1.0,
    ) -> None:
        """`limit_seconds` must be more than the group's rebalance timeout. Call `start`."""
        self._is_rebalancing = is_rebalancing
        self._kafka_answers = kafka_answers
        self._limit_seconds = limit_seconds
        self._end_process = end_process
        self._turn_seconds = turn_seconds
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="rebalance-watch", daemon=True)

    def start(self) -> None:
        """Watch until closed."""
        self._thread.start()

    def close(self) -> None:
        """Stop watching."""
        self._closing.set()

    def _watch(self) -> None:
        stuck_seconds = 0.0
        while not self._closing.wait(self._turn_seconds):
            stuck_seconds = stuck_seconds + self._turn_seconds if self._is_rebalancing() else 0.0
            if stuck_seconds >= self._limit_seconds:
                if self._kafka_answers():
                    self._end_process(ExitStatus.REBALANCE_STUCK, f"rebalancing for {stuck_seconds:.0f} s")
                stuck_seconds = 0.0


class StopTimer:
    """Ends the process when a stop takes longer than its grace."""

    def __init__(self, grace_seconds: float) -> None:
        """Counts from here."""
        self._timer = threading.Timer(grace_seconds, die, (ExitStatus.STOP_TOO_SLOW, "the stop took too long"))
        self._timer.daemon = True
        self._timer.start()

    def cancel(self) -> None:
        """The stop is over."""
        self._timer.cancel()


def expect_turn_within(seconds: float) -> None:
    """Prepare for a loop that never turns again: unless called anew in time, print all stacks and exit with 1.

    This one needs no interpreter lock, which a runaway regular expression may hold for ever.
    """
    faulthandler.dump_traceback_later(seconds, exit=True)


def expect_no_more_turns() -> None:
    """Call off what `expect_turn_within` prepared."""
    faulthandler.cancel_dump_traceback_later()
