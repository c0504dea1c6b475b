"""Decides what of each stream nobody can need any more, and says so in one short transaction.

Who is authoritative: `stream_floor.pruned_through`. What lies up to there is gone for every reader at the commit that
raised it, whatever is still on disk; `partitions` takes it from the disk later.

The rule that makes no hole: registering a consumer, reporting progress, creating or moving a lease, and raising a floor
each lock the one row of `retention_control` first, and read what they decide by in later statements. So a consumer or a
lease either comes before the raise and holds it back, or comes after it and is told the new floor. The minimum is over
consumers times streams: a consumer that has not spoken of a stream stands at its floor and holds it. A stream that no
live consumer reads keeps everything, until somebody registers one or releases the stream by name.

What happens on a crash: before the commit nothing happened; after it, the floor stands and the disk is freed by whoever
prunes next. Two pruners at once queue at the lock, and the second finds the floor risen and does nothing.

The prefix is read and digested before the lock is taken, since outbox rows never change; under the lock only numbers
are compared again.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from assay_resolver.streams import running_digest
from assay_runtime.failpoints import failpoint
from assay_runtime.logs import get_logger

from assay_relay import metrics
from assay_relay.store.pruning import Limit, PruneStore

log = get_logger()


class Raise(NamedTuple):
    """A proposal: of this stream, as it stood, the events up to `until` may go, and the digest there is `digest`."""

    limit: Limit
    until: int
    digest: bytes


class Pruner:
    """Raises floors, a bounded number of events of each stream in one round."""

    def __init__(self, store: PruneStore, age_seconds: float, batch_events: int) -> None:
        self._store = store
        self._age_seconds = age_seconds
        self._batch_events = batch_events

    def prune(self) -> int:
        """One round; how many events left all streams together."""
        proposals = list(self._proposals(self._store.find_limits()))
        return self._raise(proposals) if proposals else 0

    def _proposals(self, limits: Iterable[Limit]) -> Iterator[Raise]:
        for limit in limits:
            if limit.until > limit.floor:
                proposal = self._digested(limit)
                if proposal.until > limit.floor:
                    yield proposal

    def _digested(self, limit: Limit) -> Raise:
        """The longest run of old events right behind the floor."""
        position, digest = limit.floor, limit.digest
        for row in self._store.read_prefix(limit, self._batch_events, self._age_seconds):
            if row.position != position + 1:
                log.error("outbox.hole", **_names(limit), position=position + 1)
                break
            if not row.is_old:
                break
            position, digest = row.position, running_digest(digest, row.position, row.event_id, row.value)
        return Raise(limit, position, digest)

    def _raise(self, proposals: list[Raise]) -> int:
        failpoint("prune.before_lock")
        total = 0
        with self._store.control():
            now = {limit.stream: limit for limit in self._store.find_limits([one.limit.stream for one in proposals])}
            for one in proposals:
                current = now.get(one.limit.stream)
                if current is None or current.floor != one.limit.floor or current.until < one.until:
                    metrics.PRUNE_YIELDED.inc()
                    continue
                self._store.raise_floor(one.limit.stream, one.until, one.digest)
                total += one.until - current.floor
            self._store.note_raise()
            failpoint("prune.before_commit")
        failpoint("prune.after_commit")
        metrics.PRUNED.inc(total)
        return total


def _names(limit: Limit) -> dict[str, object]:
    stream = limit.stream
    return {"tenant_id": stream.tenant_id, "catalog_id": stream.catalog_id, "history_epoch": stream.history_epoch}
