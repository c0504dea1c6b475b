"""Workers join, leave and die under load, with the table on: nothing is lost, and nobody stands still."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

import pytest
from assay_runtime.kafka import Outgoing

from .conftest import Starter
from .group import lag
from .stage_process import SCRIPTED, StageProcess
from .world import JOBS, Place, captures, new_tenant, wait_for

TENANTS = 24
BATCH = 25
BATCH_SECONDS = 0.4


class Load:
    """Sends jobs of many tenants until told to stop; nobody sweeps, so what is lost stays lost."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._tenants = [new_tenant(place) for _ in range(TENANTS)]
        self._stop = threading.Event()
        self.sent = 0
        self._thread = threading.Thread(target=self._send)
        self._thread.start()

    def stop(self) -> None:
        """Send no more."""
        self._stop.set()
        self._thread.join()

    def _send(self) -> None:
        while not self._stop.wait(BATCH_SECONDS):
            made = captures(self._place, self._tenants, BATCH)
            messages = [Outgoing(JOBS, new.job.tenant_id.encode(), new.message(), []) for new in made]
            self._place.publisher.publish_batch(messages, timeout_seconds=30)
            self.sent += len(messages)


@contextmanager
def _load(place: Place) -> Generator[Load]:
    load = Load(place)
    try:
        yield load
    finally:
        load.stop()


@pytest.mark.timeout(600)
def test_nothing_is_lost_and_nobody_is_stuck_when_workers_join_and_leave(own_place: Place, run_stage: Starter) -> None:
    workers = [run_stage(SCRIPTED), run_stage(SCRIPTED)]
    _all_ready(workers)
    with _load(own_place) as load:
        for leave in ("stop", "kill", "stop"):
            workers.append(run_stage(SCRIPTED))
            _all_ready(workers)
            _goes_on(own_place)
            leaving = workers.pop(0)
            if leave == "stop":
                assert leaving.stop() == 0
            else:
                leaving.kill()
            _all_ready(workers)
            _goes_on(own_place)
    wait_for(lambda: _done(own_place) == load.sent, 120)
    wait_for(lambda: lag(own_place, "extract") == 0, 30)
    assert load.sent > 0
    assert own_place.dead_letters() == []
    assert own_place.rows("SELECT 1 FROM job WHERE attempt > 1") == []
    assert [worker.stop() for worker in workers] == [0, 0]


def _all_ready(workers: list[StageProcess]) -> None:
    def ready() -> bool:
        for worker in workers:
            assert worker.process.poll() is None, f"a worker ended itself: {worker.events()[-3:]}"
        return all(worker.is_ready() for worker in workers)

    wait_for(ready, 90)


def _goes_on(place: Place) -> None:
    """Jobs are done after this moment, of every partition: each tenant's newest done job moves."""
    before = _done_by_tenant(place)
    wait_for(lambda: all(count > before.get(name, 0) for name, count in _done_by_tenant(place).items()), 60)


def _done_by_tenant(place: Place) -> dict[str, int]:
    rows = place.rows(
        "SELECT tenant.tenant_id, count(inbox.job_id) AS done FROM tenant LEFT JOIN inbox USING (tenant_id) GROUP BY 1"
    )
    return {str(row["tenant_id"]): int(str(row["done"])) for row in rows}


def _done(place: Place) -> int:
    return sum(_done_by_tenant(place).values())
