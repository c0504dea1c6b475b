"""In which order records run, and what holds up whom."""

from pathlib import Path

import pytest
from assay_runtime.kafka import Outgoing
from assay_stages.delivery import MOST_IN_HAND

from .conftest import Starter
from .group import lag
from .stage_process import SCRIPTED
from .world import (
    JOBS,
    Place,
    capture,
    captures,
    new_tenant,
    tenants_of_one_partition,
    tenants_of_two_partitions,
    wait_for,
)


async def test_a_tenants_jobs_run_in_their_order_and_hold_up_no_other_tenant(
    own_place: Place, run_stage: Starter, tmp_path: Path
) -> None:
    slow_tenant, other_tenant = tenants_of_one_partition(own_place)
    slow = await capture(own_place, slow_tenant, stored=False, media_type="text/html;slow")
    behind = await capture(own_place, slow_tenant, stored=False)
    other = await capture(own_place, other_tenant, stored=False)
    running = run_stage(SCRIPTED)
    for job in (slow, behind, other):
        own_place.send_job(job)
    wait_for(lambda: own_place.job(other)["state"] == "done", 60)
    assert own_place.job(behind)["started_at"] is None
    (tmp_path / slow.capture_id).touch()
    wait_for(lambda: own_place.job(behind)["state"] == "done", 30)
    assert str(own_place.job(slow)["ended_at"]) < str(own_place.job(behind)["started_at"])
    assert running.stop() == 0


async def test_a_partition_with_too_much_in_hand_waits_while_others_go_on(
    own_place: Place, run_stage: Starter, tmp_path: Path
) -> None:
    """More than the hand holds waits behind one slow job; afterwards all of it flows again."""
    slow_tenant, other_tenant = tenants_of_two_partitions(own_place)
    slow = await capture(own_place, slow_tenant, stored=False, media_type="text/html;slow")
    own_place.send_job(slow)
    behind = captures(own_place, [slow_tenant], 3 * MOST_IN_HAND)
    own_place.publisher.publish_batch([Outgoing(JOBS, slow_tenant.encode(), new.message(), []) for new in behind])
    running = run_stage(SCRIPTED)
    wait_for((tmp_path / f"{slow.capture_id}.begun").exists, 90)
    wait_for(lambda: running.metrics()["assay_stages_in_hand_messages"] >= MOST_IN_HAND)
    other = await capture(own_place, other_tenant, stored=False)
    own_place.send_job(other)
    wait_for(lambda: own_place.job(other)["state"] == "done", 30)
    (tmp_path / slow.capture_id).touch()
    wait_for(lambda: lag(own_place, "extract") == 0, 60)
    assert own_place.rows("SELECT 1 FROM job WHERE state <> 'done'") == []
    assert running.stop() == 0


@pytest.mark.parametrize("table", ["true", "false"])
async def test_the_table_may_be_turned_off_and_nothing_else_changes(
    own_place: Place, run_stage: Starter, table: str
) -> None:
    job = await capture(own_place, new_tenant(own_place), stored=False)
    running = run_stage(SCRIPTED, stages_table=table)
    for _ in range(2):
        own_place.send_job(job)
    wait_for(lambda: lag(own_place, "extract") == 0, 90)
    assert own_place.job(job)["outcome"] == "scripted"
    skipped = {"true": [], "false": ["ended"]}[table]
    assert [line["why"] for line in running.events("job.skipped")] == skipped, "the table answers in Postgres' place"
    assert running.stop() == 0
