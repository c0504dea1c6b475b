"""Keeps a library that repeats itself, as aiokafka does while no broker answers, from filling the log."""

import logging
import time
from collections.abc import Callable

LIBRARIES = ("aiokafka", "faust", "mode")
LINES = 5
SECONDS = 10.0


class LogLimit(logging.Filter):
    """Lets LINES records of one place in a library's code through in SECONDS; others pass untouched."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Attach it to a handler."""
        super().__init__()
        self._clock = clock
        self._seen: dict[tuple[str, int], list[float]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record passes."""
        if record.name.partition(".")[0] not in LIBRARIES:
            return True
        now, place = self._clock(), (record.pathname, record.lineno)
        recent = [then for then in self._seen.get(place, []) if now - then < SECONDS]
        passes = len(recent) < LINES
        self._seen[place] = [*recent, now] if passes else recent
        return passes


def limit_libraries() -> None:
    """Limit them in every handler of the root logger."""
    limit = LogLimit()
    for handler in logging.getLogger().handlers:
        handler.addFilter(limit)
