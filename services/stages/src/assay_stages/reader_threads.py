"""Where pages are parsed: in threads, off the event loop, for a bounded time.

Threads and not processes: lxml lets go of the interpreter lock while it parses, the rest of a page takes milliseconds,
more throughput comes from more partitions and replicas, and a killed process leaves no orphan behind. A parser that
hangs cannot be stopped from outside, so it ends its process; its job has a start without an end, runs alone from then
on, and is dead-lettered after its fifth lone death.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from assay_stages.watchdog import ExitStatus, die

T = TypeVar("T")

THREADS = 2
"""They share one interpreter lock, so more would only take turns."""


class ReaderThreads:
    """A small pool for the life of a process."""

    def __init__(self, limit_seconds: float, end_process: Callable[[ExitStatus, str], None] = die) -> None:
        """`limit_seconds` bounds one call, the wait for a free thread included."""
        self._limit_seconds = limit_seconds
        self._end_process = end_process
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="reader")

    async def run(self, read: Callable[[], T]) -> T:
        """The result of `read`, or its exception."""
        running = asyncio.get_running_loop().run_in_executor(self._pool, read)
        done, _ = await asyncio.wait([running], timeout=self._limit_seconds)
        if not done:
            self._end_process(ExitStatus.READER_HANGS, f"a parser took more than {self._limit_seconds:.0f} s")
        return await running

    def close(self) -> None:
        """Let running calls end, without waiting for them."""
        self._pool.shutdown(wait=False, cancel_futures=True)
