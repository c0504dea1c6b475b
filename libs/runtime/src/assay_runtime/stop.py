"""Turns SIGTERM and SIGINT into one condition that threads and coroutines can wait for."""

import asyncio
import signal
import threading
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Stop:
    """Set once, by the first signal or by `set`; a second signal of the same kind ends the process at once."""

    def __init__(self, *, install: bool = True) -> None:
        """Install the handlers, which only a main thread may do; tests pass `install=False`."""
        self._event = threading.Event()
        self._lock = threading.RLock()
        self._waiters: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        if install:
            for number in SIGNALS:
                signal.signal(number, self._on_signal)

    def set(self) -> None:
        """Ask everything to finish."""
        self._event.set()
        with self._lock:
            waiters, self._waiters = self._waiters, []
        for loop, event in waiters:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    def is_set(self) -> bool:
        """Whether to finish."""
        return self._event.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Block a thread until asked to finish, at most `seconds`; returns whether to finish."""
        return self._event.wait(seconds)

    async def waited(self) -> None:
        """Suspend a coroutine until asked to finish; combine with `asyncio.wait_for` for a pause that ends early."""
        event = asyncio.Event()
        entry = (asyncio.get_running_loop(), event)
        with self._lock:
            self._waiters.append(entry)
        try:
            if not self._event.is_set():
                await event.wait()
        finally:
            self._forget(entry)

    def _forget(self, entry: tuple[asyncio.AbstractEventLoop, asyncio.Event]) -> None:
        with self._lock:
            if entry in self._waiters:
                self._waiters.remove(entry)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        self.set()
