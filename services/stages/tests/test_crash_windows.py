"""kill -9 at each edge of a job: the next process ends it, and it took effect once."""

from pathlib import Path

import pytest
from assay_contracts.ids import TenantId
from assay_runtime.failpoints import EXIT_STATUS

from .conftest import Starter
from .stage_process import SCRIPTED, StageProcess
from .world import Place, capture, new_tenant, tenants_of_one_partition, wait_for

ONE = {"stages_instance": "one"}
"""The next process takes over from the killed one without waiting for its session to end."""
EDGES = ("after_start", "before_commit", "after_commit", "after_publish", "before_ack")


@pytest.mark.parametrize("edge", EDGES)
async def test_a_process_killed_at_an_edge_loses_and_doubles_nothing(
    own_place: Place, run_stage: Starter, tmp_path: Path, edge: str
) -> None:
    tenant = new_tenant(own_place)
    job = await capture(own_place, tenant)
    armed = {**ONE, "failpoints": f"stages.{edge}=once:exit", "failpoint_log": str(tmp_path / "reached")}
    first = run_stage("extract", **armed)
    own_place.send_job(job)
    assert first.status(60) == EXIT_STATUS
    second = run_stage("extract", **armed)
    wait_for(lambda: own_place.job(job)["state"] == "done", 60)
    wait_for(lambda: _committed_everything(second), 30)
    assert second.stop() == 0
    _assert_took_effect_once(own_place, tenant)
    assert own_place.job(job)["attempt"] == 1, "a crash burns no attempt"
    assert f"taken stages.{edge}" in (tmp_path / "reached").read_text()


def _committed_everything(running: StageProcess) -> bool:
    return running.is_ready() and running.metrics()["assay_stages_lag_messages"] == 0


def _assert_took_effect_once(place: Place, tenant: TenantId) -> None:
    for statement in (
        "SELECT 1 FROM inbox WHERE tenant_id = %s",
        "SELECT 1 FROM job WHERE tenant_id = %s AND stage = 'normalize'",
    ):
        assert len(place.rows(statement, tenant)) == 1
    adapters = place.rows("SELECT adapter FROM extraction WHERE tenant_id = %s", tenant)
    assert len(adapters) == len({str(row["adapter"]) for row in adapters}) > 0


async def test_a_job_overtaken_by_later_ones_is_not_lost_by_kill_9(
    own_place: Place, run_stage: Starter, tmp_path: Path
) -> None:
    """Two tenants share a partition; the slow one's offset must hold back the quick one's."""
    slow_tenant, quick_tenant = tenants_of_one_partition(own_place)
    slow = await capture(own_place, slow_tenant, stored=False, media_type="text/html;slow")
    quick = [await capture(own_place, quick_tenant, stored=False) for _ in range(20)]
    first = run_stage(SCRIPTED, **ONE)
    for job in (slow, *quick):
        own_place.send_job(job)
    wait_for(lambda: all(own_place.job(job)["state"] == "done" for job in quick), 60)
    wait_for((tmp_path / f"{slow.capture_id}.begun").exists)
    assert own_place.job(slow)["state"] == "open"
    first.kill()
    (tmp_path / slow.capture_id).touch()
    second = run_stage(SCRIPTED, **ONE)
    wait_for(lambda: own_place.job(slow)["state"] == "done", 60)
    wait_for(lambda: _committed_everything(second), 30)
    assert second.stop() == 0


async def test_a_job_that_kills_its_process_is_found_out_and_its_neighbours_live(
    own_place: Place, run_stage: Starter
) -> None:
    lethal_tenant = new_tenant(own_place)
    lethal = await capture(own_place, lethal_tenant, stored=False, media_type="text/html;lethal")
    neighbours = [await capture(own_place, new_tenant(own_place), stored=False) for _ in range(5)]
    for job in (*neighbours[:2], lethal, *neighbours[2:]):
        own_place.send_job(job)
    deaths = 0
    running = run_stage(SCRIPTED, **ONE)
    while own_place.job(lethal)["state"] == "open":
        wait_for(lambda one=running: one.process.poll() is not None or own_place.job(lethal)["state"] == "dead", 60)
        if running.process.poll() is not None:
            deaths += 1
            running = run_stage(SCRIPTED, **ONE)
    row = own_place.job(lethal)
    assert (row["state"], row["deaths"]) == ("dead", 5)
    assert deaths == 6, "the first death was shared with others and does not count"
    assert [letter["reason"] for letter in own_place.dead_letters(lethal_tenant)] == ["kills_its_process"]
    wait_for(lambda: all(own_place.job(job)["state"] == "done" for job in neighbours), 60)
    assert all(own_place.job(job)["deaths"] == 0 for job in neighbours)
    assert running.stop() == 0
