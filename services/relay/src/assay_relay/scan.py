"""Finds the streams that have new outbox rows, at a cost that depends on what is new and on nothing else.

Ids come from a sequence, so a row may become visible after rows with higher ids. The scan reads every visible row
behind its head once and remembers the ids in between that it did not see. Those are looked for on every turn until
none of them can come any more: first the sequence is read (L), then a transaction id is taken (X); once all
transactions below X are over, every id up to L is visible or will never be. This needs one thing of the writers: that
they have a transaction id before they take an outbox id. They have, because they lock the stream's cursor row first.

The head is this process's own and is not stored: at the start, rows up to the sequence's value are covered by comparing
all marks with their cursors, once at once and once after the barrier. The scan finds work; it proves nothing about
order. What proves order is the check of positions where events are sent.
"""

import time
from collections.abc import Callable

from assay_resolver.streams import Stream

from assay_relay import metrics
from assay_relay.store import Store

SLICE_ROWS = 20_000
BARRIER_SECONDS = 0.05
"""Each barrier costs a transaction id, so they are not taken more often."""

Gap = tuple[int, int]


class Scan:
    """The head of one process, and the ids before it that are still open."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._head: int | None = None
        self._open: list[Gap] = []
        self._closing: list[Gap] = []
        self._barrier: int | None = None
        self._next_barrier = 0.0

    def start(self, store: Store) -> None:
        """Begin behind the last id given out; what is before it must be compared now and again after `settled`."""
        self._head = store.read_sequence()
        self._open, self._closing = [], []
        self._barrier = store.take_transaction()

    @property
    def is_settled(self) -> bool:
        """Whether every id before the head is known to be visible, or to be dead, or is listed in a gap."""
        return self._barrier is None

    @property
    def open_gaps(self) -> int:
        """How many ranges of ids may still become visible."""
        return len(self._open) + len(self._closing)

    def turn(self, store: Store) -> dict[Stream, int]:
        """Streams with news and the last position seen of each; a stream may be named again without any."""
        head = self._head
        if head is None:
            self.start(store)
            return {}
        news = store.find_news(head, SLICE_ROWS)
        late = self._look_into_gaps(store)
        self._head = news.head
        self._open += news.gaps
        metrics.GAPS.set(self.open_gaps)
        return _merge(news.streams, late)

    def _look_into_gaps(self, store: Store) -> dict[Stream, int]:
        over = self._barrier is not None and store.read_horizon() >= self._barrier
        late = store.find_late(self._open + self._closing) if self.open_gaps else {}
        if over:
            self._barrier, self._closing = None, []
        if self._barrier is None and self._open and self._clock() >= self._next_barrier:
            self._take_barrier(store)
        return late

    def _take_barrier(self, store: Store) -> None:
        """Every open gap lies before the head, and so at or below the sequence's value of this moment."""
        self._closing, self._open = self._open, []
        self._barrier = store.take_transaction()
        self._next_barrier = self._clock() + BARRIER_SECONDS


def _merge(first: dict[Stream, int], second: dict[Stream, int]) -> dict[Stream, int]:
    if not second:
        return first
    return {stream: max(first.get(stream, 0), second.get(stream, 0)) for stream in first.keys() | second.keys()}
