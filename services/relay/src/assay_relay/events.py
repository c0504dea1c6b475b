"""The process `relay events`: one thread that finds, sends, collects and marks, and waits out every outage."""

import os
import secrets
import socket
import time
from itertools import islice

import psycopg
from assay_runtime.health import Health
from assay_runtime.logs import get_logger
from assay_runtime.witness import Watch

from assay_relay import metrics
from assay_relay.backlog import Backlog
from assay_relay.clock import Clock
from assay_relay.discover import Discovery
from assay_relay.errors import DeliveryRefused
from assay_relay.leases import Leases
from assay_relay.outlet import Outlet
from assay_relay.pacing import Every, Rest
from assay_relay.passing import is_passing
from assay_relay.publish import Publisher
from assay_relay.settings import EventsSettings
from assay_relay.store import Store, Want

REPORT_SECONDS = 1.0
PARTITION_SECONDS = 30.0
HELD_SECONDS = 30.0
"""How long held streams rest before they are tried again."""
RETRY_SECONDS = 0.5
DRAIN_SECONDS = 0.3
COLLECT_SECONDS = 0.005
AGE_SAMPLE = 100
SILENCE_SECONDS = 5.0
"""After so long without an acknowledgement the process says that it waits for Kafka."""

log = get_logger()


def new_owner() -> str:
    """A name that no other process has, and that this one does not have again after a restart."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


class Relay:
    """One relay: its parts, and what one turn does with them."""

    def __init__(self, settings: EventsSettings, owner: str, outlet: Outlet, clock: Clock | None = None) -> None:
        """clock: raised in each turn; without one (in tests) nothing is witnessed, and all is published."""
        self._clock = clock
        self.backlog = Backlog()
        self.leases = Leases(owner, settings.relay_lease_seconds)
        self.publisher = self._make_publisher(settings, outlet)
        self._discovery = Discovery(self.backlog, self.leases)
        self._ahead = settings.relay_partitions_ahead
        self._partition_step = Every(PARTITION_SECONDS)
        self._held_step = Every(HELD_SECONDS)
        self._report_step = Every(REPORT_SECONDS)

    def _make_publisher(self, settings: EventsSettings, outlet: Outlet) -> Publisher:
        return Publisher(outlet, self.backlog, settings.relay_batch_events, settings.relay_batches_in_flight)

    def restart(self, store: Store) -> None:
        """Begin on a new connection: first write what Kafka acknowledged meanwhile, then read everything again."""
        self.publisher.mark(store)
        self._discovery.restart()
        if self._clock is not None:
            self._clock.doubt()

    def turn(self, store: Store) -> bool:
        """Whether anything moved."""
        self._discovery.turn(store)
        self._give_back(store)
        sent = self._may_publish(store) and self.publisher.send(store)
        self.publisher.collect(0.0 if sent else COLLECT_SECONDS)
        marked = self.publisher.mark(store)
        self._do_chores(store)
        return sent or marked

    def _may_publish(self, store: Store) -> bool:
        if self._clock is not None:
            self._clock.turn(store)
        return self.leases.are_valid and (self._clock is None or self._clock.is_witnessed)

    def drain(self, store: Store, seconds: float) -> bool:
        """Send nothing more, and wait at most so long until everything in flight is marked."""
        deadline = time.monotonic() + seconds
        while not self.publisher.is_idle and time.monotonic() < deadline:
            self.publisher.collect(COLLECT_SECONDS)
            self.publisher.mark(store)
        return self.publisher.is_idle

    def _give_back(self, store: Store) -> None:
        surplus = self.leases.surplus()
        if surplus and self.drain(store, DRAIN_SECONDS):
            self.backlog.drop_buckets(surplus)
            self.leases.release(store, surplus)

    def _do_chores(self, store: Store) -> None:
        if self._held_step.is_due():
            self.backlog.release_held()
        if self._partition_step.is_due():
            store.add_partitions(self._ahead)
        if self._report_step.is_due():
            self._report(store)

    def _report(self, store: Store) -> None:
        metrics.OUTBOX_DEPTH.set(self.backlog.depth)
        metrics.STREAMS_HELD.clear()
        for entry in self.backlog:
            if entry.held is not None:
                metrics.STREAMS_HELD.labels(entry.held).inc()
        sample = islice(self.backlog, AGE_SAMPLE)
        wants = [Want(entry.stream, entry.marked, entry.marked + 1, entry.marked_id) for entry in sample]
        metrics.OUTBOX_AGE.set(store.measure_age(wants) if wants else 0.0)


class EventsProcess:
    """Runs one relay from start to graceful stop over as many database connections as that takes."""

    def __init__(self, settings: EventsSettings, health: Health, watch: Watch) -> None:
        self._settings = settings
        self._health = health
        self._stop = watch.stop
        self._clock = Clock(settings, watch)
        self._owner = new_owner()
        self._outlet = Outlet(settings)
        self._relay = Relay(settings, self._owner, self._outlet, self._clock)
        self._rest = Rest(settings.relay_busy_seconds, settings.relay_idle_seconds)

    def run(self) -> None:
        """Return after a graceful stop; raise what no retry can cure."""
        self._health.started()
        while not self._stop.is_set():
            try:
                self._run_connected()
            except psycopg.Error as error:
                self._wait_out(error)
        self._outlet.close()
        self._clock.close()

    def _run_connected(self) -> None:
        store = Store(self._settings.dsn, self._owner)
        try:
            self._relay.restart(store)
            while not self._stop.is_set():
                self._turn(store)
            self._finish(store)
        finally:
            store.close()

    def _turn(self, store: Store) -> None:
        try:
            moved = self._relay.turn(store)
        except DeliveryRefused as refusal:
            self._relay.publisher.recover(store, refusal)
            self._stop.wait(0.0 if refusal.permanent else RETRY_SECONDS)
            moved = False
        self._tell()
        seconds = self._rest.after(moved=moved)
        if seconds and self._relay.publisher.is_idle:
            self._stop.wait(seconds)

    def _tell(self) -> None:
        self._health.progress()
        silent = self._relay.publisher.silent_seconds > SILENCE_SECONDS
        why = (
            "kafka does not acknowledge"
            if silent
            else ""
            if self._clock.is_witnessed
            else "waits for the history witness"
        )
        self._health.ready(not why, why)

    def _finish(self, store: Store) -> None:
        try:
            drained = self._relay.drain(store, self._settings.relay_stop_seconds)
        except DeliveryRefused:
            drained = False
        log.info("relay.stopped", result="drained" if drained else "purged")
        self._relay.leases.leave(store)

    def _wait_out(self, error: psycopg.Error) -> None:
        if not is_passing(error):
            raise error
        log.warning("database.away", error_type=type(error).__name__, sqlstate=error.sqlstate)
        metrics.OUTAGES.labels("postgres").inc()
        self._health.ready(False, "postgres is away")
        self._health.progress()
        self._collect_without_store()
        self._stop.wait(RETRY_SECONDS)

    def _collect_without_store(self) -> None:
        """Acknowledgements are worth keeping; a refusal is met again once the database is back."""
        try:
            self._relay.publisher.collect(0.0)
        except DeliveryRefused as refusal:
            log.warning("delivery.refused", code=refusal.code)
