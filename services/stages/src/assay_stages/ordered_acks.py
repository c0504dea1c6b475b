"""Acknowledges in offset order what finishes in any order, and refuses a hole before it can be committed over.

Per partition and generation of the group there is one line of taken messages. Only the finished front of a line is
acknowledged, so that the committed offset never passes a message whose transaction has not committed. The front of a
new line must be the committed offset (or the log's earliest), and each further message must follow the one before:
a message that went missing on its way here would otherwise be committed over.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from assay_stages.errors import OffsetGap

E = TypeVar("E")


@dataclass(eq=False, slots=True)
class Taken(Generic[E]):
    """A message in hand; it is never acknowledged before those in front of it."""

    event: E
    partition: int
    generation: int
    is_done: bool = False


@dataclass(slots=True)
class _Line(Generic[E]):
    generation: int
    next_offset: int
    taken: deque[Taken[E]] = field(default_factory=deque[Taken[E]])


class OrderedAcks(Generic[E]):
    """The lines of one process; used by the event loop's thread only."""

    def __init__(self, ack: Callable[[E], Awaitable[object]]) -> None:
        """`ack` must not suspend, or a later message's acknowledgement could overtake (Faust's does not)."""
        self._ack = ack
        self._lines: dict[int, _Line[E]] = {}

    def is_begun(self, partition: int, generation: int) -> bool:
        """Whether this generation has a line for the partition."""
        line = self._lines.get(partition)
        return line is not None and line.generation == generation

    def begin(self, partition: int, generation: int, first_offset: int) -> None:
        """Start a new line; what is left of an older one will never be acknowledged, and comes again."""
        self._lines[partition] = _Line(generation, first_offset)

    def take(self, partition: int, offset: int, event: E) -> Taken[E]:
        """Put a message at the end of its line, or raise OffsetGap. A repeat may go back, never forward."""
        line = self._lines[partition]
        if offset > line.next_offset:
            raise OffsetGap(f"partition {partition}: expected offset {line.next_offset}, got {offset}")
        line.next_offset = offset + 1
        taken = Taken(event, partition, line.generation)
        line.taken.append(taken)
        return taken

    async def finish(self, taken: Taken[E]) -> None:
        """Its transaction is committed: acknowledge whatever is finished at the front of its line."""
        taken.is_done = True
        line = self._lines[taken.partition]
        if line.generation != taken.generation:
            return
        while line.taken and line.taken[0].is_done:
            await self._ack(line.taken.popleft().event)

    def finished_in_hand(self, taken: Taken[E]) -> list[E]:
        """What is finished in this message's line and waits for those in front of it."""
        line = self._lines[taken.partition]
        return [other.event for other in line.taken if other.is_done] if line.generation == taken.generation else []

    def in_hand(self, partition: int) -> int:
        """How many messages of the partition are taken and not acknowledged."""
        line = self._lines.get(partition)
        return len(line.taken) if line else 0
