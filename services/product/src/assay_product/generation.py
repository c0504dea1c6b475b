"""⑦ how far one generation of a catalog has come, and which of its positions are taken.

The row of the live generation is authoritative: who holds its lock is the only writer of that catalog's projection,
and takes the generation from it, never from anything read before. Everything below (inbox, parking, cursor, rows) is
keyed by that generation. A batch is one transaction: after a crash at any step either all of it is there, offsets
included, or none; what Kafka delivers again is known by its position and event id.

A position belongs to one event for ever. Progress passes only positions that are processed, so it stands still at the
first one that is missing or parked, while later events take effect as far as they rest on nothing missing.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from uuid import UUID

from assay_product.deliveries import Catalog, Incoming


class Mark(NamedTuple):
    """What the running digest takes of a processed event."""

    event_id: UUID
    sha256: bytes


@dataclass(frozen=True, slots=True)
class Cursor:
    """A locked live generation: 1..progress are processed; highest is the furthest position processed or parked."""

    catalog: Catalog
    generation: int
    history_epoch: str
    progress: int = 0
    highest: int = 0
    processed: int = 0
    digest: bytes = bytes(32)
    halted: str | None = None

    @property
    def is_held(self) -> bool:
        """Whether some position up to the highest is not processed."""
        return self.processed < self.highest


@dataclass(slots=True)
class Sorted:
    """Incoming events by what their positions say of them; `halted` is set by the first contradiction."""

    fresh: list[Incoming] = field(default_factory=list[Incoming])
    repeated: list[Incoming] = field(default_factory=list[Incoming])
    held: list[Incoming] = field(default_factory=list[Incoming])
    contradicting: list[Incoming] = field(default_factory=list[Incoming])
    halted: str | None = None


def sort_out(events: Iterable[Incoming], cursor: Cursor, taken: Mapping[int, UUID]) -> Sorted:
    """Tell new events from repeats and from contradictions, in the order of their delivery.

    `taken` holds every known position that one of these events names, by its own position or by its id.
    """
    found = Sorted(halted=cursor.halted)
    at_position = dict(taken)
    of_event = {event_id: position for position, event_id in taken.items()}
    for incoming in events:
        position, event_id = incoming.event.position, incoming.event_id
        known, elsewhere = at_position.get(position), of_event.get(event_id, position)
        if known == event_id or (known is None and elsewhere == position and position <= cursor.progress):
            found.repeated.append(incoming)
        elif known is not None or elsewhere != position:
            found.contradicting.append(incoming)
            found.halted = found.halted or _contradiction(incoming, known, elsewhere)
        else:
            at_position[position], of_event[event_id] = event_id, position
            (found.fresh if found.halted is None else found.held).append(incoming)
    return found


def _contradiction(incoming: Incoming, known: UUID | None, elsewhere: int) -> str:
    position, event_id = incoming.event.position, incoming.event_id
    if known is not None:
        return f"position {position} is event {known} and was offered as {event_id}"
    return f"event {event_id} is at position {elsewhere} and was offered at {position}"


def advance(cursor: Cursor, marks: Mapping[int, Mark]) -> Cursor:
    """Move progress over the marked positions that follow it without a hole."""
    progress, digest = cursor.progress, cursor.digest
    while (mark := marks.get(progress + 1)) is not None:
        progress += 1
        digest = running_digest(digest, progress, mark)
    return replace(cursor, progress=progress, digest=digest)


def running_digest(before: bytes, position: int, mark: Mark) -> bytes:
    """SHA-256 over the digest so far, the position (8 bytes, big-endian), the event id and the value's SHA-256.

    The resolver's cursor runs the same digest, so that two equal digests at one position mean one history.
    """
    return hashlib.sha256(before + position.to_bytes(8, "big") + mark.event_id.bytes + mark.sha256).digest()
