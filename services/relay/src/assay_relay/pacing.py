"""When a loop does what it does not do on every turn, and how long it rests when there was nothing to do."""

import time
from collections.abc import Callable

GROWTH = 1.5


class Every:
    """True at most once in so many seconds, and at once the first time."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._next = clock()

    def is_due(self) -> bool:
        """Whether the time is over; if so it begins anew."""
        now = self._clock()
        if now < self._next:
            return False
        self._next = now + self._seconds
        return True


class Rest:
    """Short while there is work, longer with every turn that found none."""

    def __init__(self, busy_seconds: float, idle_seconds: float) -> None:
        self._busy_seconds = busy_seconds
        self._idle_seconds = idle_seconds
        self._seconds = busy_seconds

    def after(self, *, moved: bool) -> float:
        """Seconds to rest after a turn."""
        self._seconds = 0.0 if moved else min(max(self._busy_seconds, self._seconds * GROWTH), self._idle_seconds)
        return self._seconds
