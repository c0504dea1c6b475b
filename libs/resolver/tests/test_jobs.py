"""A job row through its life: promised, sent, started, retried, ended; what comes too late changes nothing."""

from dataclasses import replace
from uuid import UUID

import psycopg
import pytest
from assay_contracts.decoder import decode
from assay_contracts.evidence import evidence_uri
from assay_contracts.ids import ArtifactId, CaptureId, CatalogId, ReceiptId, SourceId, TenantId, job_id, uuid7
from assay_contracts.messages import ArtifactRef, ResolutionJob
from assay_contracts.timestamps import Timestamp
from assay_resolver import dead_letters, epochs, inbox, jobs
from assay_resolver.dead_letters import DeadLetter, Origin
from assay_resolver.epochs import Epoch
from assay_resolver.jobs import JobRow, NewJob, SentJob
from assay_resolver.streams import Connection

from .world import EPOCH, World

TENANT = TenantId("ten_one")
SHA256 = "a" * 64
TOPIC_ID = UUID(int=7)


async def _promise(world: World, stages: Connection) -> ResolutionJob:
    capture_id = CaptureId(world.capture({}))
    artifact = ArtifactRef(
        artifact_id=ArtifactId("art_1"),
        ref=evidence_uri(TENANT, SHA256),
        sha256=SHA256,
        media_type="text/html",
        bytes=3,
    )
    job = ResolutionJob(
        job_id=job_id(capture_id, "extract", 1),
        stage="extract",
        tenant_id=TENANT,
        catalog_id=CatalogId("cat_main"),
        capture_id=capture_id,
        receipt_id=ReceiptId("rcpt_1"),
        source_id=SourceId("src_shop"),
        artifacts=(artifact,),
        pins=None,
        enqueued_at=Timestamp("2026-07-01T12:00:00Z"),
        attempt_group=1,
        history_epoch=EPOCH,
    )
    await jobs.insert_job(stages, NewJob(job, uuid7(), 1_782_900_000))
    return job


async def _row(stages: Connection, job: ResolutionJob) -> JobRow:
    row = await jobs.lock_job(stages, job)
    assert row is not None
    return row


async def _sent_offset(stages: Connection, job: ResolutionJob) -> int | None:
    row = await (await stages.execute("SELECT sent_offset FROM job WHERE job_id = %s", [job.job_id])).fetchone()
    assert row is not None
    return row[0]


async def test_a_promised_job_is_open_due_and_unsent(world: World, stages: Connection) -> None:
    job = await _promise(world, stages)
    assert await _row(stages, job) == JobRow("open", 1, EPOCH, 1, "open", True, False, 0, None, False, True)
    assert await _sent_offset(stages, job) is None


async def test_a_message_that_says_anything_else_is_not_what_was_promised(world: World, stages: Connection) -> None:
    job = await _promise(world, stages)
    other = await _row(stages, job.model_copy(update={"source_id": "src_other"}))
    assert ((await _row(stages, job)).promised, other.promised) == (True, False)


async def test_a_job_is_promised_once_per_capture_stage_and_group(world: World, stages: Connection) -> None:
    job = await _promise(world, stages)
    with pytest.raises(psycopg.errors.UniqueViolation):
        await jobs.insert_job(stages, NewJob(job, uuid7(), 1))


async def test_the_message_made_from_the_row_is_the_message_made_from_the_job(world: World, stages: Connection) -> None:
    job = await _promise(world, stages)
    columns = "envelope_id, envelope_ts, attempt, payload"
    row = await (await stages.execute(f"SELECT {columns} FROM job WHERE job_id = %s", [job.job_id])).fetchone()
    assert row is not None
    value = jobs.message(*row)
    assert value == NewJob(job, row[0], row[1]).message()
    assert decode("resolution.job.v1", value).payload == job


async def test_only_the_current_attempts_send_is_noted(world: World, stages: Connection) -> None:
    job = await _promise(world, stages)
    sent = SentJob(TENANT, job.job_id, 1, TOPIC_ID, 3, 41)
    await jobs.record_sent(stages, replace(sent, attempt=2))
    assert await _sent_offset(stages, job) is None
    await jobs.record_sent(stages, sent)
    assert await _sent_offset(stages, job) == 41
    await jobs.retry_job(stages, TENANT, job.job_id, 1, "an outage of luck")
    assert await _sent_offset(stages, job) is None
    await jobs.record_sent(stages, sent)
    assert await _sent_offset(stages, job) is None, "the answer to the first attempt's send came late"


async def test_a_start_has_no_end_until_one_is_written(world: World, stages: Connection) -> None:
    job = await _promise(world, stages)
    started_at = await jobs.start_job(stages, TENANT, job.job_id, alone=False, deaths=0)
    row = await _row(stages, job)
    assert (row.start_has_no_end, row.started_at) == (True, started_at)
    await jobs.end_start(stages, TENANT, job.job_id, 1)
    assert not (await _row(stages, job)).start_has_no_end
    await jobs.start_job(stages, TENANT, job.job_id, alone=True, deaths=2)
    row = await _row(stages, job)
    assert (row.start_has_no_end, row.started_alone, row.deaths) == (True, True, 2)


async def test_a_retry_is_due_later_and_only_the_current_attempt_can_ask_for_it(
    world: World, stages: Connection
) -> None:
    job = await _promise(world, stages)
    await jobs.start_job(stages, TENANT, job.job_id, alone=False, deaths=0)
    await jobs.retry_job(stages, TENANT, job.job_id, 2, "not yet")
    assert (await _row(stages, job)).attempt == 1
    await jobs.retry_job(stages, TENANT, job.job_id, 1, "the first")
    row = await _row(stages, job)
    assert (row.attempt, row.due, row.start_has_no_end) == (2, False, False)
    await jobs.retry_job(stages, TENANT, job.job_id, 1, "the first, again")
    assert (await _row(stages, job)).attempt == 2


def test_retries_wait_twice_as_long_each_time_up_to_a_minute() -> None:
    assert [jobs.retry_delay_seconds(attempt) for attempt in (1, 2, 3, 7, 99)] == [1.0, 2.0, 4.0, 60.0, 60.0]


@pytest.mark.parametrize("state", ["done", "dead", "superseded"])
async def test_an_ended_job_stays_as_it_ended(world: World, stages: Connection, state: str) -> None:
    job = await _promise(world, stages)
    if state == "done":
        await jobs.finish_job(stages, TENANT, job.job_id, "ok")
    elif state == "dead":
        await jobs.kill_job(stages, TENANT, job.job_id, "no luck", 0)
    else:
        await jobs.supersede_job(stages, TENANT, job.job_id)
    ended = await _row(stages, job)
    assert ended.state == state
    await jobs.finish_job(stages, TENANT, job.job_id, "late")
    await jobs.kill_job(stages, TENANT, job.job_id, "late", 5)
    await jobs.retry_job(stages, TENANT, job.job_id, 1, "late")
    await jobs.supersede_job(stages, TENANT, job.job_id)
    await jobs.record_sent(stages, SentJob(TENANT, job.job_id, 1, TOPIC_ID, 0, 1))
    assert await _row(stages, job) == ended
    assert await _sent_offset(stages, job) is None


async def test_what_nobody_promised_is_not_there(world: World, stages: Connection) -> None:
    job = await _promise(world, stages)
    assert await jobs.lock_job(stages, job.model_copy(update={"job_id": "cap_x:extract:1"})) is None
    assert await jobs.lock_capture_shared(stages, TENANT, CaptureId("cap_x")) is None


async def test_a_locked_capture_keeps_its_attempt_group(world: World, stages: Connection) -> None:
    job = await _promise(world, stages)
    capture = await jobs.lock_capture_shared(stages, TENANT, job.capture_id)
    assert capture is not None
    assert (capture.catalog_id, capture.source_id, capture.attempt_group) == ("cat_main", "src_shop", 1)
    world.admin.execute("SET lock_timeout = '100ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable):
        world.admin.execute("UPDATE capture SET attempt_group = 2 WHERE capture_id = %s", [job.capture_id])


async def test_a_job_takes_effect_once(world: World, stages: Connection) -> None:
    job = await _promise(world, stages)
    assert await inbox.insert_done(stages, TENANT, job.job_id)
    assert not await inbox.insert_done(stages, TENANT, job.job_id)


async def test_the_registry_lists_every_epoch_and_one_is_open(world: World, stages: Connection) -> None:
    world.admin.execute("INSERT INTO history_epoch (ordinal, name, state) VALUES (0, 'history-0', 'closed')")
    first, second = Epoch(0, "history-0", "closed"), Epoch(1, EPOCH, "open")
    assert await epochs.registry(stages) == {"history-0": first, EPOCH: second}
    assert await epochs.open_epoch(stages) == second
    await stages.rollback()
    world.admin.execute("UPDATE history_epoch SET state = 'closed'")
    assert await epochs.open_epoch(stages) is None


async def test_a_dead_letter_keeps_the_record_and_is_written_once(stages: Connection) -> None:
    headers = (("schema", b"resolution.job/1"), ("odd", None))
    letter = DeadLetter(
        Origin(TOPIC_ID, "resolution.job.v1", 2, 9, b"\xff", None, headers), "null_value", "nothing\0 \ud800"
    )
    assert await dead_letters.insert_dead_letter(stages, letter)
    assert not await dead_letters.insert_dead_letter(stages, replace(letter, reason="too_late"))
    row = await (await stages.execute("SELECT key, value, headers, reason, cause FROM dead_letter")).fetchone()
    assert row == (b"\xff", None, '[["schema", "cmVzb2x1dGlvbi5qb2IvMQ=="], ["odd", null]]', "null_value", "nothing ?")
