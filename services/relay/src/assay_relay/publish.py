"""Moves a stream's events from the outbox to Kafka in position order, and marks them when Kafka has them.

Who is authoritative: `relay_stream.published`. It says that Kafka acknowledged every event up to there, and it only
rises. Everything in memory is rebuilt from it.

The rule that carries position order: whoever sends a stream reads `published` first and then sends the events behind
it one after the other, each only if its position is exactly the next (else the stream is held), through one producer
that neither reorders nor skips. So whatever reaches Kafka, from this relay, from its successor, or from one that was
stopped and woke up late, is a run of consecutive positions whose first follows something that Kafka already has. No
first occurrence can come before an earlier position's. Repeats can come at any time.

What names a term: the lease epoch of the stream's bucket, see `leases`. Marks carry it.

What happens on a crash:
- after reading, before sending: nothing has happened;
- after sending, before the acknowledgement: Kafka may have any prefix of what was sent; the next reader repeats it;
- after the acknowledgement, before the mark (`relay.after_publish`): the same;
- after the mark (`relay.after_mark`): the events are published for good;
- a refusal of any event: everything in flight is purged with its producer, unmarked, and read again from the marks.
  Where the event itself is to blame, its batch is sent again one event at a time, until it stands alone and its stream
  is held;
- Postgres is away: acknowledgements go on arriving, their marks wait in memory, and nothing new is read. Afterwards all
  is compared again. A mark is a fact about Kafka, so it may be written late, or twice;
- Kafka is away: batches stay in flight (they never expire), no transaction is open, leases are renewed.
"""

import time
from collections import deque
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from assay_resolver.streams import Stream
from assay_runtime.failpoints import failpoint
from assay_runtime.logs import get_logger

from assay_relay import metrics
from assay_relay.backlog import Backlog, Entry
from assay_relay.errors import DeliveryRefused, EventUnsendable
from assay_relay.outlet import Batch, Outlet
from assay_relay.store import EventRow, Mark, Store, Want

PORTION_BYTES = 8_000_000
"""About how much is read at once, whatever the number of events."""
GAP = "gap"

log = get_logger()


@dataclass(slots=True)
class Portion:
    """What one batch carries: the marks that its acknowledgement allows. alone: it holds one suspected event."""

    batch: Batch
    alone: bool
    marks: list[Mark] = field(default_factory=list[Mark])


class Publisher:
    """Reads, sends, collects and marks; every call returns within about its wait."""

    def __init__(self, outlet: Outlet, backlog: Backlog, batch_events: int, batches_in_flight: int) -> None:
        self._outlet = outlet
        self._backlog = backlog
        self._batch_events = batch_events
        self._batches_in_flight = batches_in_flight
        self._portions: deque[Portion] = deque()
        self._owed: dict[tuple[Stream, int], Mark] = {}
        self._average_bytes = 1_000.0
        self._heard_at = time.monotonic()

    @property
    def is_idle(self) -> bool:
        """Nothing is in flight and nothing is owed to the database."""
        return not self._portions and not self._owed

    @property
    def silent_seconds(self) -> float:
        """How long Kafka has acknowledged nothing of what is in flight."""
        return time.monotonic() - self._heard_at if self._portions else 0.0

    def send(self, store: Store) -> bool:
        """Hand the next fair portion to Kafka; False if nothing waits or enough is in flight."""
        if not self._has_room():
            return False
        portion = self._backlog.pick(self._portion_events())
        if portion.alone and self._portions:
            self._backlog.requeue(portion.wants)
            return False
        if portion.wants:
            self._send_portion(store, portion.wants, alone=portion.alone)
        return bool(portion.wants)

    def collect(self, wait_seconds: float) -> None:
        """Take the acknowledgements that come within the wait: their marks are owed now. May raise DeliveryRefused."""
        if not self._portions:
            return
        for batch in self._acknowledged(wait_seconds):
            for mark in self._portions.popleft().marks:
                self._owed[mark.stream, mark.lease_epoch] = mark
            self._heard_at = time.monotonic()
            metrics.PUBLISHED.inc(batch.total)
            metrics.PUBLISHED_BYTES.inc(batch.size_bytes)
            self._average_bytes += (batch.size_bytes / max(1, batch.total) - self._average_bytes) / 4

    def mark(self, store: Store) -> bool:
        """Write what is owed, if anything; it stays owed if the database is away."""
        if not self._owed:
            return False
        marks = [mark._replace(held=self._backlog.held(mark.stream)) for mark in self._owed.values()]
        failpoint("relay.after_publish")
        store.mark_published(marks)
        failpoint("relay.after_mark")
        self._owed.clear()
        self._backlog.mark(marks)
        metrics.MARKED.inc(len(marks))
        return True

    def recover(self, store: Store, refusal: DeliveryRefused) -> None:
        """After a refusal: another producer, and everything from the durable marks again."""
        log.warning("delivery.refused", code=refusal.code, permanent=refusal.permanent)
        metrics.REFUSED.labels(refusal.code).inc()
        portions, self._portions = self._portions, deque()
        self._outlet.replace()
        self._backlog.rewind()
        for portion in portions:
            if portion.batch.is_to_blame:
                self._suspect(store, portion, refusal.code)

    def _acknowledged(self, wait_seconds: float) -> list[Batch]:
        return self._outlet.collect(wait_seconds)

    def _has_room(self) -> bool:
        return len(self._portions) < self._batches_in_flight and not (self._portions and self._portions[-1].alone)

    def _portion_events(self) -> int:
        return max(1, min(self._batch_events, int(PORTION_BYTES / max(1.0, self._average_bytes))))

    def _send_portion(self, store: Store, wants: list[Want], *, alone: bool) -> None:
        found = {n: list(group) for n, group in groupby(store.read_events(wants), itemgetter(0))}
        if not self._portions:
            self._heard_at = time.monotonic()
        portion = Portion(self._outlet.begin(), alone)
        self._portions.append(portion)
        for n, want in enumerate(wants, 1):
            entry, rows = self._backlog.entry(want.stream), found.get(n, [])
            if rows and rows[0][2] == entry.sent + 1:
                self._send_stream(store, portion, entry, rows)
            else:
                self._miss(store, entry)
        self._backlog.requeue(wants)

    def _send_stream(self, store: Store, portion: Portion, entry: Entry, rows: list[EventRow]) -> None:
        key = entry.stream.tenant_id.encode()
        send, batch = self._outlet.send, portion.batch
        position, last_id = entry.sent, entry.sent_id
        try:
            for _, outbox_id, row_position, event_id, value in rows:
                if row_position != position + 1 or not send(batch, key, value, event_id):
                    break
                position, last_id = row_position, outbox_id
        except EventUnsendable as unsendable:
            self._hold(store, entry, unsendable.reason, position + 1)
        if position > entry.sent:
            entry.sent, entry.sent_id = position, last_id
            portion.marks.append(Mark(entry.stream, entry.lease_epoch, position, last_id))

    def _miss(self, store: Store, entry: Entry) -> None:
        """The next event is known to exist and was not found: look without the hint about ids, then hold."""
        if entry.sent_id:
            entry.sent_id = 0
        else:
            self._hold(store, entry, GAP, entry.sent + 1)

    def _suspect(self, store: Store, portion: Portion, code: str) -> None:
        """One of these events is to blame: if there is only one, hold its stream, else send each of them alone."""
        for mark in portion.marks:
            entry = self._backlog.find(mark.stream)
            if entry is None:
                continue
            if portion.batch.total == 1:
                self._hold(store, entry, code.lower(), mark.position)
            else:
                entry.alone_until = mark.position

    def _hold(self, store: Store, entry: Entry, reason: str, position: int) -> None:
        self._backlog.hold(entry, reason)
        log.error(
            "stream.held",
            tenant_id=entry.stream.tenant_id,
            catalog_id=entry.stream.catalog_id,
            history_epoch=entry.stream.history_epoch,
            position=position,
            reason=reason,
        )
        store.hold_stream(entry.stream, entry.lease_epoch, reason)
