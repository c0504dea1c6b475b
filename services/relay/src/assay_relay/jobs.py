"""The process `relay jobs`: sweeps jobs and dead letters in turns, and waits out every outage."""

from uuid import UUID

import psycopg
from assay_runtime.errors import DeliveryFailed, KafkaUnavailable
from assay_runtime.health import Health
from assay_runtime.kafka import Publisher
from assay_runtime.logs import get_logger
from assay_runtime.stop import Stop

from assay_relay import metrics
from assay_relay.letters import Copier
from assay_relay.log_state import LogReader
from assay_relay.pacing import Every
from assay_relay.passing import is_passing
from assay_relay.settings import JobsSettings
from assay_relay.store import SweepStore
from assay_relay.sweep import Sweeper

log = get_logger()


class JobsProcess:
    """Runs the sweeper until it is asked to stop; several of them share the work."""

    def __init__(self, settings: JobsSettings, health: Health, stop: Stop) -> None:
        self._settings = settings
        self._health = health
        self._stop = stop
        self._reader = LogReader(settings)
        self._look = Every(settings.sweep_log_seconds)
        self._topic_id: UUID | None = None

    def run(self) -> None:
        """Return when asked to stop; raise what no retry can cure."""
        with Publisher(self._settings, "relay jobs") as publisher:
            self._health.started()
            while not self._stop.is_set():
                try:
                    self._run_connected(Sweeper(publisher), Copier(publisher))
                except psycopg.Error as error:
                    if not is_passing(error):
                        raise
                    self._wait_out("postgres", error)
                except (KafkaUnavailable, DeliveryFailed) as error:
                    self._wait_out("kafka", error)
        self._reader.close()

    def _run_connected(self, sweeper: Sweeper, copier: Copier) -> None:
        settings = self._settings
        store = SweepStore(
            settings.dsn, settings.sweep_batch, settings.sweep_claim_seconds, settings.sweep_grace_seconds
        )
        try:
            while not self._stop.is_set():
                claimed = self.turn(store, sweeper, copier)
                self._health.progress()
                self._stop.wait(0.0 if claimed >= settings.sweep_batch else settings.sweep_seconds)
        finally:
            store.close()

    def turn(self, store: SweepStore, sweeper: Sweeper, copier: Copier) -> int:
        """One round; how many rows it claimed."""
        looks = self._look.is_due()
        if looks or self._topic_id is None:
            self._topic_id = self._reader.topic_id()
        if self._topic_id is None:
            raise KafkaUnavailable("there is no job topic")
        claimed = sweeper.send_unsent(store, self._topic_id) + copier.copy(store)
        if looks:
            claimed += sweeper.send_lost(store, self._reader, self._topic_id)
        metrics.SWEEPS.inc()
        self._health.ready(True)
        return claimed

    def _wait_out(self, dependency: str, error: Exception) -> None:
        log.warning("sweep.waits", error_type=type(error).__name__, cause=dependency)
        metrics.OUTAGES.labels(dependency).inc()
        self._health.ready(False, f"{dependency} is away")
        self._health.progress()
        self._stop.wait(self._settings.sweep_seconds)
