"""Takes from the disk what the floors have given up: whole partitions of the outbox, never rows of a live one.

A partition goes when every id of it is visible or dead, when all its rows are published, and when of the rows above
their floors there are few enough to be copied to the keep-table. The order, and what a crash leaves:
- wait until no transaction can still hold an id of the partition (the barrier of `scan`): nothing has happened;
- copy the laggards' rows to `outbox_kept`, commit: readers find them twice and drop the double;
- DETACH CONCURRENTLY under a lock timeout, which no decision waits for: interrupted, it stays pending and the next
  round finishes it; meanwhile readers have the copies;
- save what is needed and was not copied, and DROP, in one transaction: a detached table is found again by its name.
"""

from assay_runtime.failpoints import failpoint
from assay_runtime.logs import get_logger
from psycopg.errors import LockNotAvailable, QueryCanceled

from assay_relay import metrics
from assay_relay.store.pruning import Partition, PruneStore

log = get_logger()


class Dropper:
    """Looks at one partition in a round: the oldest."""

    def __init__(self, store: PruneStore, keep_rows: int, lock_milliseconds: int) -> None:
        self._store = store
        self._keep_rows = keep_rows
        self._lock_milliseconds = lock_milliseconds
        self.settled_below = 0
        """Every outbox id below this one is visible, or will never be."""
        self._barrier: tuple[int, int] | None = None

    def drop(self) -> bool:
        """Whether a partition left the disk in this round."""
        self._move_barrier()
        for table in self._store.list_detached():
            self._drop(table)
        partitions = self._store.list_partitions()
        if len(partitions) < 2:
            return False
        oldest = partitions[0]
        return (oldest.pending or self._is_dispensable(oldest)) and self._detach(oldest)

    def _move_barrier(self) -> None:
        """Learn below which id no row can appear any more."""
        if self._barrier is not None and self._store.read_horizon() >= self._barrier[1]:
            self.settled_below, self._barrier = self._barrier[0] + 1, None
        if self._barrier is None:
            self._barrier = (self._store.read_sequence(), self._store.take_transaction())

    def _is_dispensable(self, partition: Partition) -> bool:
        if partition.high > self.settled_below:
            return False
        unpublished, needed = self._store.count_needed(partition, self._keep_rows + 1)
        if unpublished or needed > self._keep_rows:
            return False
        if needed:
            kept = self._store.keep_needed(partition)
            failpoint("prune.after_keep")
            log.warning("outbox.kept", table=partition.table, rows=kept)
        return True

    def _detach(self, partition: Partition) -> bool:
        try:
            self._store.detach(partition, self._lock_milliseconds)
        except (LockNotAvailable, QueryCanceled) as busy:
            metrics.PARTITIONS_BUSY.inc()
            log.info("partition.busy", table=partition.table, error_type=type(busy).__name__)
            return False
        failpoint("prune.after_detach")
        self._drop(partition.table)
        return True

    def _drop(self, table: str) -> None:
        saved = self._store.drop(table)
        metrics.PARTITIONS_DROPPED.inc()
        log.info("partition.dropped", table=table, rows=saved)
