"""The process `relay prune`: raises floors, drops partitions, reports who is silent, and waits out every outage."""

import psycopg
from assay_runtime.health import Health
from assay_runtime.logs import get_logger
from assay_runtime.stop import Stop

from assay_relay import metrics
from assay_relay.floors import Pruner
from assay_relay.pacing import Every
from assay_relay.partitions import Dropper
from assay_relay.passing import is_passing
from assay_relay.settings import PruneSettings
from assay_relay.store.pruning import PruneStore

RETRY_SECONDS = 0.5
REPORT_SECONDS = 5.0
SILENCE_REPORT_SECONDS = 60.0

log = get_logger()


class PruneProcess:
    """Prunes until it is asked to stop; a second one does no harm."""

    def __init__(self, settings: PruneSettings, health: Health, stop: Stop) -> None:
        self._settings = settings
        self._health = health
        self._stop = stop
        self._report_step = Every(REPORT_SECONDS)
        self._silence_step = Every(SILENCE_REPORT_SECONDS)

    def run(self) -> None:
        """Return when asked to stop; raise what no retry can cure."""
        self._health.started()
        while not self._stop.is_set():
            try:
                self._run_connected()
            except psycopg.Error as error:
                if not is_passing(error):
                    raise
                self._wait_out(error)

    def _run_connected(self) -> None:
        settings = self._settings
        store = PruneStore(settings.dsn)
        pruner = Pruner(store, settings.retention_seconds, settings.prune_batch_events)
        dropper = Dropper(store, settings.prune_keep_rows, settings.prune_lock_milliseconds)
        try:
            while not self._stop.is_set():
                moved = self.turn(store, pruner, dropper)
                self._health.ready(True)
                self._health.progress()
                self._stop.wait(0.0 if moved else settings.prune_seconds)
        finally:
            store.close()

    def turn(self, store: PruneStore, pruner: Pruner, dropper: Dropper) -> bool:
        """One round; whether another one may find more at once."""
        pruned = pruner.prune()
        if pruned:
            log.info("events.pruned", count=pruned)
        dropped = dropper.drop()
        for lease_id, stream, position in store.delete_expired():
            log.warning("lease.expired", name=lease_id, tenant_id=stream.tenant_id, position=position)
        store.trim_kept()
        if self._report_step.is_due():
            self._report(store)
        return bool(pruned) or dropped

    def _report(self, store: PruneStore) -> None:
        found = store.measure()
        metrics.CONSUMER_SILENCE.set(found.silent_seconds)
        metrics.EVENTS_KEPT.set(found.events)
        metrics.LEASES_STANDING.set(found.leases)
        metrics.CONSUMERS.set(found.consumers)
        metrics.ROWS_KEPT.set(found.kept)
        silent = store.list_silent(self._settings.consumer_silent_seconds)
        metrics.CONSUMERS_SILENT.set(len(silent))
        if silent and self._silence_step.is_due():
            for name, seconds in silent:
                log.error("consumer.silent", name=name, seconds=round(seconds))

    def _wait_out(self, error: Exception) -> None:
        log.warning("prune.waits", error_type=type(error).__name__)
        metrics.OUTAGES.labels("postgres").inc()
        self._health.ready(False, "postgres is away")
        self._health.progress()
        self._stop.wait(RETRY_SECONDS)
