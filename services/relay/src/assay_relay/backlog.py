"""What this relay knows to be unpublished, and in which order it turns to it: pure bookkeeping, no clock, no I/O.

Of each stream it knows three positions: `marked` (durable), `sent` (handed to the producer, at least `marked`) and
`known` (exists, at least `sent`). Streams that have nothing left are forgotten.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from assay_resolver.streams import Stream

from assay_relay.store import Mark, StreamRow, Want

LEAST_SHARE = 20
"""Events that a stream may send at once however many others wait: below that a read costs more than it brings."""
MOST_STREAMS = 100
"""Streams in one read."""


@dataclass(slots=True)
class Entry:
    """One stream with unpublished events. alone_until: up to there each event travels in a batch of its own."""

    stream: Stream
    bucket: int
    lease_epoch: int
    marked: int
    marked_id: int
    sent: int
    sent_id: int
    known: int
    alone_until: int = 0
    held: str | None = None

    @property
    def waiting(self) -> int:
        """Events that exist and were not handed to the producer."""
        return self.known - self.sent

    def rewind(self) -> None:
        """Nothing beyond the durable mark counts as sent."""
        self.sent, self.sent_id = self.marked, self.marked_id


class Portion(NamedTuple):
    """What to read next; `alone`: one suspected event that must share neither batch nor flight."""

    wants: list[Want]
    alone: bool


class Backlog:
    """All entries, and two rotations: tenants take turns, and within a tenant its streams do."""

    def __init__(self) -> None:
        self._entries: dict[Stream, Entry] = {}
        self._turns: OrderedDict[str, OrderedDict[Stream, None]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    @property
    def depth(self) -> int:
        """Events known and not marked."""
        return sum(entry.known - entry.marked for entry in self._entries.values())

    def learn(self, rows: Collection[StreamRow], terms: Mapping[int, int]) -> list[Entry]:
        """Take over streams of our buckets from their durable state; returns the new entries."""
        added: list[Entry] = []
        for row in rows:
            if row.bucket in terms and not self.hear(row.stream, row.position) and row.position > row.published:
                entry = _entry(row, terms[row.bucket])
                self._entries[row.stream] = entry
                self._queue(entry)
                added.append(entry)
        return added

    def hear(self, stream: Stream, position: int) -> bool:
        """News of a stream, if it is one of these; False if it is not."""
        entry = self._entries.get(stream)
        if entry is None:
            return False
        if position > entry.known:
            entry.known = position
            self._queue(entry)
        return True

    def pick(self, events: int) -> Portion:
        """The next fair portion of at most `events`, taken out of the rotation until `requeue`."""
        waiting = sum(len(streams) for streams in self._turns.values())
        share = max(LEAST_SHARE, events // max(1, waiting))
        wants: list[Want] = []
        while self._turns and events > 0 and len(wants) < MOST_STREAMS:
            entry = self._next()
            if entry.alone_until > entry.sent:
                if not wants:
                    return Portion([_want(entry, 1)], alone=True)
                self._queue(entry)
                break
            count = min(share, entry.waiting, events)
            wants.append(_want(entry, count))
            events -= count
        return Portion(wants, alone=False)

    def requeue(self, wants: Collection[Want]) -> None:
        """Put streams that still have something waiting at the end of the rotation."""
        for want in wants:
            self._queue(self._entries[want.stream])

    def entry(self, stream: Stream) -> Entry:
        """The entry of a stream that is known to be here."""
        return self._entries[stream]

    def find(self, stream: Stream) -> Entry | None:
        """The entry of a stream, if it is here."""
        return self._entries.get(stream)

    def held(self, stream: Stream) -> str | None:
        """Why a stream does not go on, if it is here and does not."""
        entry = self._entries.get(stream)
        return None if entry is None else entry.held

    def mark(self, marks: Collection[Mark]) -> None:
        """These marks are durable."""
        for mark in marks:
            entry = self._entries.get(mark.stream)
            if entry is not None and entry.lease_epoch == mark.lease_epoch and mark.position > entry.marked:
                entry.marked, entry.marked_id = mark.position, mark.outbox_id
                if entry.marked >= entry.known:
                    self._drop(entry)

    def hold(self, entry: Entry, reason: str) -> None:
        """Leave this stream alone until it is released."""
        entry.held = reason
        self._unqueue(entry)

    def release_held(self) -> None:
        """Try the held streams again, from their durable marks and without a hint about ids."""
        for entry in self._entries.values():
            if entry.held is not None:
                entry.held = None
                entry.rewind()
                entry.sent_id = 0
                self._queue(entry)

    def rewind(self) -> None:
        """The producer was replaced: everything that is not marked must be read again."""
        for entry in self._entries.values():
            entry.rewind()
            self._queue(entry)

    def drop_buckets(self, buckets: Collection[int]) -> None:
        """Forget the streams of buckets whose term is over."""
        for entry in [entry for entry in self._entries.values() if entry.bucket in buckets]:
            self._drop(entry)

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()
        self._turns.clear()

    def _next(self) -> Entry:
        tenant, streams = next(iter(self._turns.items()))
        stream, _ = streams.popitem(last=False)
        if streams:
            self._turns.move_to_end(tenant)
        else:
            del self._turns[tenant]
        return self._entries[stream]

    def _queue(self, entry: Entry) -> None:
        if entry.waiting > 0 and entry.held is None:
            self._turns.setdefault(entry.stream.tenant_id, OrderedDict()).setdefault(entry.stream)

    def _unqueue(self, entry: Entry) -> None:
        streams = self._turns.get(entry.stream.tenant_id)
        if streams is not None:
            streams.pop(entry.stream, None)
            if not streams:
                del self._turns[entry.stream.tenant_id]

    def _drop(self, entry: Entry) -> None:
        del self._entries[entry.stream]
        self._unqueue(entry)


def _entry(row: StreamRow, lease_epoch: int) -> Entry:
    return Entry(
        stream=row.stream,
        bucket=row.bucket,
        lease_epoch=lease_epoch,
        marked=row.published,
        marked_id=row.published_id,
        sent=row.published,
        sent_id=row.published_id,
        known=row.position,
    )


def _want(entry: Entry, count: int) -> Want:
    return Want(entry.stream, entry.sent, entry.sent + count, entry.sent_id)
