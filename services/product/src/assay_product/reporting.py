"""⑦ tells the relay's retention how far the live generations have durably come, so that it may prune behind them.

What is reported is read from the committed cursors, after the fact and in a thread of its own: a crash at any moment
reports too little, never too much, and a relay API that is away delays pruning and nothing else. Reports are monotonic
on the other side, so two appliers, or a late answer, do no harm.

The answer says what is acknowledged and what is gone. A cursor that stands below either belongs to a database that was
restored or is new: its stream is halted, because the events in between will not come, and a rebuild from a snapshot is
the way on.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final, NamedTuple, cast

import httpx
from assay_runtime.logs import get_logger
from assay_runtime.postgres import SyncPool, is_conflict, is_outage
from assay_runtime.stop import Stop
from psycopg import Error, errors

from assay_product import metrics
from assay_product.deliveries import Catalog
from assay_product.settings import ApplySettings
from assay_product.store import progress as store
from assay_product.store.progress import Progress

CONSUMER: Final = "product.apply"
ANSWER_SECONDS: Final = 5.0
STREAMS_AT_ONCE: Final = 1_000

log = get_logger()


class Stand(NamedTuple):
    """Up to where the relay believes this consumer to be, or knows that nothing is left, whichever is higher."""

    catalog: Catalog
    history_epoch: str
    needed: int


class Reporter:
    """Reports every few seconds from `start` to `stop`; does nothing where no relay API is named."""

    def __init__(self, settings: ApplySettings, pool: SyncPool) -> None:
        self._settings = settings
        self._pool = pool
        self._stop = Stop(install=False)
        self._is_registered = False
        self._is_removed = False
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)

    def start(self) -> None:
        """Begin in the background."""
        if self._settings.retention_url:
            self._thread.start()
        else:
            log.warning("progress.unreported", why="ASSAY_RETENTION_URL names no relay API")

    def close(self) -> None:
        """End; what was not reported yet is reported by the next process."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(2 * ANSWER_SECONDS)

    def _run(self) -> None:
        key = self._settings.retention_key.get_secret_value()
        headers = {"Authorization": f"Bearer {key}"}
        url = self._settings.retention_url
        with httpx.Client(base_url=url, headers=headers, timeout=ANSWER_SECONDS, trust_env=False) as http:
            while not self._stop.is_set() and not self._is_removed:
                try:
                    self.turn(http)
                except (httpx.HTTPError, Error) as error:
                    if isinstance(error, Error) and not _may_pass(error):
                        log.error("progress.defect", exc_info=error)
                    metrics.REPORTS.labels("failed").inc()
                    log.warning("progress.waits", error_type=type(error).__name__)
                self._stop.wait(self._settings.retention_report_seconds)

    def turn(self, http: httpx.Client) -> None:
        """Register if that is not done, then report once. Raises httpx.HTTPError and what Postgres raises."""
        if not self._is_registered:
            answer = http.put(f"/v1/consumers/{CONSUMER}", json={"kind": "live"}).raise_for_status()
            floors = cast("Sequence[Mapping[str, object]]", answer.json()["floors"])
            self._compare([_stand(one, int(str(one["floor"]))) for one in floors])
            self._is_registered = True
        with self._pool.connection() as conn:
            progress = store.list_progress(conn, self._settings.history_epoch)
        for start in range(0, len(progress) or 1, STREAMS_AT_ONCE):
            self._report(http, progress[start : start + STREAMS_AT_ONCE])

    def _report(self, http: httpx.Client, progress: Sequence[Progress]) -> None:
        body = {"progress": [one.document() for one in progress]}
        answer = http.post(f"/v1/consumers/{CONSUMER}/progress", json=body)
        if answer.status_code == HTTPStatus.NOT_FOUND:
            self._is_removed = True
            log.error(
                "consumer.removed", name=CONSUMER, why="an operator unregistered it; a restart registers it again"
            )
            return
        answer.raise_for_status()
        stands = cast("Sequence[Mapping[str, object]]", answer.json()["streams"])
        self._compare([_stand(one, max(int(str(one["acknowledged"])), int(str(one["floor"])))) for one in stands])
        metrics.REPORTS.labels("taken").inc()
        metrics.REPORTED_AT.set(time.time())

    def _compare(self, stands: Sequence[Stand]) -> None:
        """Halt the streams whose cursors, read again now, are still below what the relay says."""
        for stand in stands:
            if stand.history_epoch != self._settings.history_epoch or not stand.needed:
                continue
            with self._pool.connection() as conn:
                halted = store.halt_if_below(conn, stand.catalog, stand.history_epoch, stand.needed)
            if halted is not None:
                tenant_id, catalog_id = stand.catalog
                log.error("stream.halted", tenant_id=tenant_id, catalog_id=catalog_id, why=halted)


def _stand(one: Mapping[str, object], needed: int) -> Stand:
    catalog = Catalog.of(str(one["tenant_id"]), str(one["catalog_id"]))
    return Stand(catalog, str(one["history_epoch"]), needed)


def _may_pass(error: Error) -> bool:
    return is_outage(error) or is_conflict(error) or isinstance(error, errors.QueryCanceled | errors.LockNotAvailable)
