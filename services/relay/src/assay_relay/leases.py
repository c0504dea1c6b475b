"""Which buckets of streams this relay may publish, shared fairly with the other relays.

Who is authoritative: the rows `relay_owner` (is this relay alive) and `relay_bucket` (whose is the bucket, in which
term). This object only remembers what it read at its last heartbeat.

What names a term: (owner, lease_epoch). Every claim raises the epoch, so no two terms of a bucket share a name. A mark
is written only in the term in which its events were read.

Why a late process does no harm: a relay that was stopped and wakes up after its term still sends what it had read, a
contiguous run that begins at or below a durable mark. It repeats events, or runs ahead of its successor in the right
order; it cannot bring a first occurrence forward. So a lease saves work, and position order never rests on it.

What happens on a crash:
- before or during a heartbeat: the owner row expires by the database's clock; whoever looks next deletes it, and the
  foreign key frees its buckets in that same transaction. Renewal and burial meet on the owner row's lock: either the
  heartbeat came first and nothing is lost, or the owner is gone and learns it from its next `list_leases`;
- after a claim: the new owner compares every stream of the bucket with its cursor before it relies on news, so nothing
  that the last owner had seen is forgotten;
- of the database: a claim whose commit did not reach the disk is taken back; the relay finds that out at the next
  heartbeat, and until then its marks meet no row.

No transaction outlives its statement, and SKIP LOCKED only chooses between relays that claim at the same moment.
"""

import math
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from assay_runtime.failpoints import failpoint
from assay_runtime.logs import get_logger

from assay_relay import metrics
from assay_relay.store import Store

HEARTBEATS_PER_LEASE = 4

log = get_logger()


@dataclass(frozen=True, slots=True)
class Change:
    """What a heartbeat brought: buckets of a new term, and buckets that are no longer this relay's."""

    gained: frozenset[int] = frozenset()
    lost: frozenset[int] = frozenset()


NO_CHANGE = Change()


class Leases:
    """The leases of one relay; `keep` is called on every turn and acts when a heartbeat is due."""

    def __init__(self, owner: str, lease_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._owner = owner
        self._lease_seconds = lease_seconds
        self._clock = clock
        self._terms: dict[int, int] = {}
        self._next_beat = clock()
        self._valid_until = clock()
        self._fair_share = 0

    @property
    def terms(self) -> Mapping[int, int]:
        """Bucket to lease epoch, as of the last heartbeat."""
        return self._terms

    @property
    def are_valid(self) -> bool:
        """False when the last heartbeat is so old that another relay may have buried this one."""
        return self._clock() < self._valid_until

    def keep(self, store: Store) -> Change:
        """Renew, bury the dead, claim up to the fair share; NO_CHANGE until the next heartbeat is due."""
        started = self._clock()
        if started < self._next_beat:
            return NO_CHANGE
        store.renew_owner(self._lease_seconds)
        store.bury_owners()
        owners = max(1, store.count_owners())
        self._fair_share = math.ceil(store.count_buckets() / owners)
        change = self._read(store)
        self._valid_until = started + self._lease_seconds
        self._next_beat = started + self._lease_seconds / HEARTBEATS_PER_LEASE
        metrics.OWNERS.set(owners)
        metrics.LEASES.set(len(self._terms))
        return change

    def surplus(self) -> frozenset[int]:
        """Buckets above the fair share, to be released when nothing of theirs is in flight."""
        return frozenset(sorted(self._terms)[self._fair_share :])

    def release(self, store: Store, buckets: Collection[int]) -> None:
        """Give these back."""
        store.release_buckets(buckets)
        for bucket in buckets:
            self._terms.pop(bucket, None)
        log.info("leases.released", owner=self._owner, count=len(buckets), total=len(self._terms))

    def leave(self, store: Store) -> None:
        """Give everything back and be gone, at a graceful stop."""
        store.leave_owners()
        self._terms.clear()
        log.info("leases.left", owner=self._owner)

    def forget(self) -> None:
        """The database was away: the next turn begins with a heartbeat."""
        self._next_beat = self._clock()

    def _read(self, store: Store) -> Change:
        found = store.list_leases()
        missing = self._fair_share - len(found)
        if missing > 0 and store.claim_buckets(missing):
            failpoint("relay.after_claim")
            found = store.list_leases()
        gained = frozenset(bucket for bucket, term in found.items() if self._terms.get(bucket) != term)
        lost = frozenset(bucket for bucket, term in self._terms.items() if found.get(bucket) != term)
        self._terms = found
        if gained or lost:
            log.info("leases.changed", owner=self._owner, count=len(gained), gap=len(lost), total=len(found))
        metrics.LEASES_LOST.inc(len(lost))
        return Change(gained, lost)
