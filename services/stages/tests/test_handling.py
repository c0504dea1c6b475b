"""What becomes of one record, by the real rows, whoever delivers it."""

from collections.abc import Mapping
from uuid import UUID

import psycopg
import pytest
from assay_contracts.decoder import decode
from assay_contracts.ids import TenantId
from assay_contracts.messages import Pins, ResolutionJob
from assay_resolver.jobs import CaptureRow, message, payload_of
from assay_runtime.errors import EvidenceMissing, EvidenceUnavailable
from assay_runtime.evidence import EvidenceStore
from assay_stages.errors import UnknownPin
from assay_stages.extract_stage import ExtractStage
from assay_stages.handling import Verdict
from assay_stages.normalize_stage import NormalizeStage
from assay_stages.reader_threads import ReaderThreads
from assay_stages.store import Connection
from assay_stages.work import Effect, Ended

from .conftest import Wire
from .scripted_work import ScriptedWork, hands, write_nothing
from .world import EPOCH, Place, capture, new_job, new_tenant


async def test_a_job_ends_with_its_result_and_its_successor_sent(shared_place: Place, tenant: TenantId) -> None:
    job = await capture(shared_place, tenant)
    async with hands(shared_place, ScriptedWork()) as stage:
        assert await stage.handler.handle(stage.sent(job)) is Verdict.DONE
    row = shared_place.job(job)
    assert (row["state"], row["outcome"], row["attempt"]) == ("done", "ok", 1)
    assert row["ended_at"] is not None
    assert shared_place.rows("SELECT job_id FROM inbox WHERE tenant_id = %s", tenant) == [{"job_id": job.job_id}]
    (following,) = shared_place.rows("SELECT * FROM job WHERE tenant_id = %s AND stage = 'normalize'", tenant)
    assert (following["state"], following["attempt"]) == ("open", 1)
    assert following["sent_offset"] is not None
    assert following["envelope_id"] != row["envelope_id"]


async def test_the_next_job_is_the_same_work_for_the_next_stage(shared_place: Place, tenant: TenantId) -> None:
    job = await capture(shared_place, tenant, pins=Pins(adapter="pa_schema_org@1.0.0"))
    async with hands(shared_place, ScriptedWork()) as stage:
        await stage.handler.handle(stage.sent(job))
    (row,) = shared_place.rows("SELECT * FROM job WHERE tenant_id = %s AND stage = 'normalize'", tenant)
    envelope_id, payload = row["envelope_id"], row["payload"]
    assert isinstance(envelope_id, UUID)
    assert isinstance(payload, bytes)
    following = decode("resolution.job.v1", message(envelope_id, 1, 1, payload)).payload
    changed = {"stage": "normalize", "job_id": f"{job.capture_id}:normalize:1", "enqueued_at": following.enqueued_at}
    assert following == job.model_copy(update=changed)
    assert following.enqueued_at > job.enqueued_at


async def test_a_repeat_changes_nothing(shared_place: Place, tenant: TenantId) -> None:
    job = await capture(shared_place, tenant)
    work = ScriptedWork()
    async with hands(shared_place, work) as stage:
        record = stage.sent(job)
        assert await stage.handler.handle(record) is Verdict.DONE
        assert await stage.handler.handle(record) is Verdict.DUPLICATE
        assert await stage.another().handler.handle(record) is Verdict.DUPLICATE
    assert work.prepared == [job.job_id]
    assert len(shared_place.rows("SELECT 1 FROM job WHERE tenant_id = %s", tenant)) == 2


async def test_the_table_saves_the_question_but_never_the_fence(shared_place: Place, tenant: TenantId) -> None:
    job, table = await capture(shared_place, tenant), dict[bytes, bytes]()
    async with hands(shared_place, ScriptedWork(), table=table) as stage:
        record = stage.sent(job)
        assert await stage.handler.handle(record) is Verdict.DONE
        assert list(table.values()) == [f"1 {job.job_id}".encode()]
        shared_place.run("UPDATE job SET state = 'open', outcome = NULL WHERE job_id = %s", job.job_id)
        assert await stage.handler.handle(record) is Verdict.DUPLICATE, "the table answered"
        forged = _with_epoch(record.value, "history-0")
        refused = stage.record(record.key, forged, 1, 7001)
        assert await stage.handler.handle(refused) is Verdict.DEAD_LETTERED


async def test_the_table_holds_only_done_jobs(shared_place: Place, tenant: TenantId) -> None:
    job, table = await capture(shared_place, tenant), dict[bytes, bytes]()
    work = ScriptedWork(failures=[ZeroDivisionError(), UnknownPin("pa_x@1.0.0")])
    async with hands(shared_place, work, table=table) as stage:
        assert await stage.handler.handle(stage.sent(job)) is Verdict.RETRIED
        shared_place.run("UPDATE job SET due_at = now() WHERE job_id = %s", job.job_id)
        assert await stage.handler.handle(stage.sent(job)) is Verdict.DEAD_LETTERED
    assert table == {}


async def test_other_stages_jobs_are_acknowledged_at_once(shared_place: Place, tenant: TenantId) -> None:
    job = new_job(tenant, b"nobody promised this", stage="identity")
    async with hands(shared_place, ScriptedWork(stage="extract")) as stage:
        record = stage.record(tenant.encode(), message(UUID(int=1), 1, 1, job.model_dump_json().encode()))
        assert await stage.handler.handle(record) is Verdict.OTHER_STAGE
    assert shared_place.dead_letters(tenant) == []


async def test_a_failed_attempt_is_scheduled_again_under_the_same_envelope(
    shared_place: Place, tenant: TenantId
) -> None:
    job = await capture(shared_place, tenant)
    async with hands(shared_place, ScriptedWork(failures=[ZeroDivisionError("by zero")])) as stage:
        first = stage.sent(job)
        before = shared_place.job(job)
        assert await stage.handler.handle(first) is Verdict.RETRIED
        row = shared_place.job(job)
        assert (row["state"], row["attempt"], row["sent_offset"]) == ("open", 2, None)
        assert (row["envelope_id"], row["envelope_ts"]) == (before["envelope_id"], before["envelope_ts"])
        assert "by zero" in str(row["cause"])
        assert await stage.handler.handle(first) is Verdict.DUPLICATE, "the first attempt is over"
        early = stage.sent(job)
        assert await stage.handler.handle(early) is Verdict.DUPLICATE, "the second is not due"
        shared_place.run("UPDATE job SET due_at = now() WHERE job_id = %s", job.job_id)
        assert await stage.handler.handle(early) is Verdict.DONE
    assert shared_place.job(job)["cause"] is None


async def test_the_fifth_failed_attempt_is_a_dead_letter(shared_place: Place, tenant: TenantId) -> None:
    job = await capture(shared_place, tenant)
    work = ScriptedWork(failures=[EvidenceMissing("r2://gone")] * 5)
    async with hands(shared_place, work) as stage:
        for _ in range(4):
            assert await stage.handler.handle(stage.sent(job)) is Verdict.RETRIED
            shared_place.run("UPDATE job SET due_at = now() WHERE job_id = %s", job.job_id)
        last = stage.sent(job)
        assert await stage.handler.handle(last) is Verdict.DEAD_LETTERED
        assert await stage.handler.handle(last) is Verdict.DUPLICATE
    row = shared_place.job(job)
    assert (row["state"], row["attempt"]) == ("dead", 5)
    assert str(row["cause"]).startswith("evidence_missing: ")
    (letter,) = shared_place.dead_letters(tenant)
    assert (letter["reason"], letter["job_id"], letter["offset"]) == ("evidence_missing", job.job_id, last.offset)
    assert (letter["key"], letter["value"], letter["topic"]) == (last.key, last.value, "resolution.job.v1")


async def test_what_the_database_refuses_names_the_constraint(shared_place: Place, tenant: TenantId) -> None:
    async def violate(conn: Connection) -> Ended:
        await conn.execute("INSERT INTO inbox (tenant_id, job_id) VALUES ('ten_nobody', 'no_job')")
        return Ended("never")

    job = await capture(shared_place, tenant)
    async with hands(shared_place, ScriptedWork(effect=violate)) as stage:
        assert await stage.handler.handle(stage.sent(job)) is Verdict.RETRIED
    assert "inbox_tenant_id_job_id_fkey" in str(shared_place.job(job)["cause"])
    assert shared_place.rows("SELECT 1 FROM inbox WHERE tenant_id = %s", tenant) == []


async def test_an_outage_burns_no_attempt_and_leaves_no_suspicion(shared_place: Place, tenant: TenantId) -> None:
    job = await capture(shared_place, tenant)
    async with hands(shared_place, ScriptedWork(failures=[EvidenceUnavailable("no route")])) as stage:
        record = stage.sent(job)
        with pytest.raises(EvidenceUnavailable):
            await stage.handler.handle(record)
        row = shared_place.job(job)
        assert (row["state"], row["attempt"], row["started_alone"]) == ("open", 1, False)
        assert row["ended_at"] is not None, "nobody who sees the row now believes that its start died"
        assert await stage.handler.handle(record) is Verdict.DONE


async def test_a_lost_answer_to_commit_is_asked_for_and_burns_nothing(
    shared_place: Place, tenant: TenantId, postgres_wire: Wire
) -> None:
    job = await capture(shared_place, tenant)

    async def lose_the_answer(conn: Connection) -> Ended:
        postgres_wire.proxy.lose_answer_to(b"COMMIT")
        return await write_nothing(conn)

    async with hands(shared_place, ScriptedWork(effect=lose_the_answer), dsn=postgres_wire.dsn) as stage:
        record = stage.sent(job)
        with pytest.raises(psycopg.OperationalError):
            await stage.handler.handle(record)
        assert postgres_wire.proxy.swallowed.is_set()
        assert await stage.handler.handle(record) is Verdict.DUPLICATE
    row = shared_place.job(job)
    assert (row["state"], row["attempt"]) == ("done", 1)
    (following,) = shared_place.rows("SELECT * FROM job WHERE tenant_id = %s AND stage = 'normalize'", tenant)
    assert following["sent_offset"] is None, "the sweeper owes it a send"


async def test_while_postgres_is_away_the_message_is_held(
    shared_place: Place, tenant: TenantId, postgres_wire: Wire
) -> None:
    job = await capture(shared_place, tenant)
    async with hands(shared_place, ScriptedWork(), dsn=postgres_wire.dsn) as stage:
        record = stage.sent(job)
        postgres_wire.proxy.cut()
        with pytest.raises(psycopg.OperationalError):
            await stage.handler.handle(record)
        assert shared_place.job(job)["attempt"] == 1
        postgres_wire.proxy.mend()
        assert await stage.handler.handle(record) is Verdict.DONE


async def test_postgres_lost_between_start_and_result_repeats_beside_others(
    shared_place: Place, tenant: TenantId, postgres_wire: Wire
) -> None:
    job = await capture(shared_place, tenant)
    cuts = [postgres_wire.proxy.cut]

    async def cut_once(conn: Connection) -> Ended:
        if cuts:
            cuts.pop()()
        return await write_after_all(conn)

    async def write_after_all(conn: Connection) -> Ended:
        await conn.execute("SELECT 1")
        return Ended("ok")

    async with hands(shared_place, ScriptedWork(effect=cut_once), dsn=postgres_wire.dsn) as stage:
        record = stage.sent(job)
        with pytest.raises(psycopg.OperationalError):
            await stage.handler.handle(record)
        postgres_wire.proxy.mend()
        assert await stage.handler.handle(record) is Verdict.DONE
    row = shared_place.job(job)
    assert (row["attempt"], row["started_alone"], row["deaths"]) == (1, False, 0)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        (b"ten_a", None, "null_value"),
        (b"ten_a", b"", "not_json"),
        (b"ten_a", b"\xff\xfe{}", "byte_order_mark"),
        (b"ten_a", b'{"version": 1}', "missing_field"),
        (b"ten_a", b"x" * 20_000, "too_large"),
    ],
)
async def test_what_nobody_can_decode_is_one_dead_letter_for_all_stages(
    shared_place: Place, key: bytes | None, value: bytes | None, reason: str
) -> None:
    sent = shared_place.send(b"ten_any", b"takes an offset of its own")
    async with hands(shared_place, ScriptedWork()) as extract:
        record = extract.record(key, value, sent.partition, sent.offset)
        assert await extract.handler.handle(record) is Verdict.DEAD_LETTERED
        identity = extract.another(ScriptedWork(stage="identity"))
        assert await identity.handler.handle(record) is Verdict.DEAD_LETTERED
    letters = [
        letter
        for letter in shared_place.dead_letters()
        if (letter["partition"], letter["offset"]) == (sent.partition, sent.offset)
    ]
    assert [(letter["reason"], letter["stage"], letter["tenant_id"]) for letter in letters] == [
        (reason, "extract", None)
    ]
    assert (letters[0]["key"], letters[0]["value"]) == (key, value)


@pytest.mark.parametrize(("key", "reason"), [(None, "null_key"), (b"ten_other", "wrong_key"), (b"\xff", "wrong_key")])
async def test_a_key_that_is_not_the_tenant_is_refused_and_its_job_stays_open(
    shared_place: Place, tenant: TenantId, key: bytes | None, reason: str
) -> None:
    job = await capture(shared_place, tenant)
    async with hands(shared_place, ScriptedWork()) as stage:
        record = stage.sent(job)
        forged = stage.record(key, record.value, record.partition, record.offset)
        assert await stage.handler.handle(forged) is Verdict.DEAD_LETTERED
        letters = [one for one in shared_place.dead_letters() if one["value"] == record.value]
        assert [one["reason"] for one in letters] == [reason]
        assert await stage.handler.handle(record) is Verdict.DONE


async def test_a_job_that_nobody_promised_is_refused(shared_place: Place, tenant: TenantId) -> None:
    job = new_job(tenant, b"page")
    async with hands(shared_place, ScriptedWork()) as stage:
        sent = shared_place.send(tenant.encode(), message(UUID(int=2), 1, 1, job.model_dump_json().encode()))
        value = message(UUID(int=2), 1, 1, job.model_dump_json().encode())
        record = stage.record(tenant.encode(), value, sent.partition, sent.offset)
        assert await stage.handler.handle(record) is Verdict.DEAD_LETTERED
    assert [letter["reason"] for letter in shared_place.dead_letters(tenant)] == ["no_job"]


@pytest.mark.parametrize("forgery", ["catalog", "source", "artifact", "artifacts"])
async def test_a_message_that_is_not_what_was_promised_is_refused_and_its_job_goes_on(
    shared_place: Place, tenant: TenantId, forgery: str
) -> None:
    job = await capture(shared_place, tenant)
    artifact = job.artifacts[0]
    foreign = artifact.model_copy(update={"ref": artifact.ref.replace(tenant, new_tenant(shared_place))})
    forgeries: Mapping[str, Mapping[str, object]] = {
        "catalog": {"catalog_id": "cat_other"},
        "source": {"source_id": "src_other"},
        "artifact": {"artifacts": (foreign,)},
        "artifacts": {"artifacts": (artifact, artifact)},
    }
    work = ScriptedWork()
    async with hands(shared_place, work) as stage:
        sent = stage.sent(job)
        value = message(UUID(int=3), 1, 1, payload_of(job.model_copy(update=forgeries[forgery])))
        other = shared_place.send(tenant.encode(), value)
        record = stage.record(sent.key, value, other.partition, other.offset)
        assert await stage.handler.handle(record) is Verdict.DEAD_LETTERED
        assert [letter["reason"] for letter in shared_place.dead_letters(tenant)] == ["not_as_promised"]
        assert shared_place.job(job)["state"] == "open"
        assert await stage.handler.handle(sent) is Verdict.DONE


async def test_a_message_of_a_closed_epoch_is_refused_and_never_relabelled(
    shared_place: Place, tenant: TenantId
) -> None:
    _close_epoch(shared_place, 0, "history-0")
    job = await capture(shared_place, tenant, epoch="history-0")
    async with hands(shared_place, ScriptedWork()) as stage:
        assert await stage.handler.handle(stage.sent(job)) is Verdict.DEAD_LETTERED
    assert [letter["reason"] for letter in shared_place.dead_letters(tenant)] == ["closed_epoch"]
    row = shared_place.job(job)
    assert (row["state"], row["history_epoch"]) == ("dead", "history-0")


async def test_a_message_whose_row_was_minted_anew_leaves_the_row_alone(shared_place: Place, tenant: TenantId) -> None:
    _close_epoch(shared_place, 0, "history-0")
    job = await capture(shared_place, tenant, epoch="history-0")
    async with hands(shared_place, ScriptedWork()) as stage:
        record = stage.sent(job)
        shared_place.run("UPDATE job SET history_epoch = %s WHERE job_id = %s", EPOCH, job.job_id)
        assert await stage.handler.handle(record) is Verdict.DEAD_LETTERED
    assert shared_place.job(job)["state"] == "open"


async def test_an_unknown_epoch_is_refused(shared_place: Place, tenant: TenantId) -> None:
    job = new_job(tenant, b"page", epoch="history-99")
    value = message(UUID(int=4), 1, 1, job.model_dump_json().encode())
    async with hands(shared_place, ScriptedWork()) as stage:
        sent = shared_place.send(tenant.encode(), value)
        record = stage.record(tenant.encode(), value, sent.partition, sent.offset)
        assert await stage.handler.handle(record) is Verdict.DEAD_LETTERED
    assert [letter["reason"] for letter in shared_place.dead_letters(tenant)] == ["unknown_epoch"]


async def test_an_epoch_opened_meanwhile_is_adopted(own_place: Place) -> None:
    tenant = new_tenant(own_place)
    first = await capture(own_place, tenant)
    async with hands(own_place, ScriptedWork()) as stage:
        old = stage.sent(first)
        assert await stage.handler.handle(old) is Verdict.DONE
        own_place.run("UPDATE history_epoch SET state = 'closed' WHERE name = %s", EPOCH)
        own_place.run("INSERT INTO history_epoch (ordinal, name, state) VALUES (2, 'history-2', 'open')")
        second = await capture(own_place, tenant, epoch="history-2")
        assert await stage.handler.handle(stage.sent(second)) is Verdict.DONE


async def test_a_job_of_an_older_attempt_group_is_superseded(shared_place: Place, tenant: TenantId) -> None:
    job = await capture(shared_place, tenant)
    shared_place.run("UPDATE capture SET attempt_group = 2 WHERE capture_id = %s", job.capture_id)
    async with hands(shared_place, ScriptedWork()) as stage:
        assert await stage.handler.handle(stage.sent(job)) is Verdict.SUPERSEDED
    assert shared_place.job(job)["state"] == "superseded"


async def test_a_reprocess_during_the_work_keeps_its_result_out(shared_place: Place, tenant: TenantId) -> None:
    job = await capture(shared_place, tenant)

    class Overtaken(ScriptedWork):
        async def prepare(self, job: ResolutionJob, capture: CaptureRow) -> Effect:
            shared_place.run("UPDATE capture SET attempt_group = 2 WHERE capture_id = %s", job.capture_id)
            shared_place.run("UPDATE job SET state = 'superseded' WHERE job_id = %s", job.job_id)
            return await super().prepare(job, capture)

    async with hands(shared_place, Overtaken()) as stage:
        assert await stage.handler.handle(stage.sent(job)) is Verdict.DUPLICATE
    assert shared_place.rows("SELECT 1 FROM inbox WHERE tenant_id = %s", tenant) == []
    assert shared_place.job(job)["state"] == "superseded"


async def test_an_unknown_adapter_is_dead_lettered_visibly(shared_place: Place, tenant: TenantId) -> None:
    job = await capture(shared_place, tenant, pins=Pins(adapter="pa_nobody@9.9.9"))
    async with EvidenceStore(shared_place.evidence) as store:
        threads = ReaderThreads(30)
        async with hands(shared_place, ExtractStage(store, threads)) as stage:
            assert await stage.handler.handle(stage.sent(job)) is Verdict.DEAD_LETTERED
        threads.close()
    row = shared_place.job(job)
    assert (row["state"], row["cause"]) == ("dead", "unknown_pin: unknown pin: 'pa_nobody@9.9.9'")
    assert [letter["reason"] for letter in shared_place.dead_letters(tenant)] == ["unknown_pin"]


async def test_an_unknown_profile_is_dead_lettered_visibly(shared_place: Place, tenant: TenantId) -> None:
    job = await capture(shared_place, tenant, stage="normalize", pins=Pins(profile="np_nobody@9"))
    threads = ReaderThreads(30)
    async with hands(shared_place, ScriptedWork(stage="normalize")) as stage:
        normalize = stage.another(NormalizeStage(stage.pool, threads))
        assert await normalize.handler.handle(stage.sent(job)) is Verdict.DEAD_LETTERED
    threads.close()
    assert [letter["reason"] for letter in shared_place.dead_letters(tenant)] == ["unknown_pin"]


async def test_a_missing_object_is_retried_and_named(shared_place: Place, tenant: TenantId) -> None:
    job = await capture(shared_place, tenant, b"never stored", stored=False)
    async with EvidenceStore(shared_place.evidence) as store:
        threads = ReaderThreads(30)
        async with hands(shared_place, ExtractStage(store, threads)) as stage:
            assert await stage.handler.handle(stage.sent(job)) is Verdict.RETRIED
        threads.close()
    assert "EvidenceMissing" in str(shared_place.job(job)["cause"])


async def test_bytes_of_another_length_than_the_job_says_are_refused(shared_place: Place, tenant: TenantId) -> None:
    job = await capture(shared_place, tenant)
    artifact = job.artifacts[0].model_copy(update={"bytes": 7})
    lying = job.model_copy(update={"artifacts": (artifact,)})
    shared_place.run("UPDATE job SET payload = %s WHERE job_id = %s", lying.model_dump_json().encode(), job.job_id)
    async with EvidenceStore(shared_place.evidence) as store:
        threads = ReaderThreads(30)
        async with hands(shared_place, ExtractStage(store, threads)) as stage:
            assert await stage.handler.handle(stage.sent(job)) is Verdict.RETRIED
        threads.close()
    assert "ArtifactMismatch" in str(shared_place.job(job)["cause"])


def _close_epoch(place: Place, ordinal: int, name: str) -> None:
    place.run(
        "INSERT INTO history_epoch (ordinal, name, state) VALUES (%s, %s, 'closed') ON CONFLICT DO NOTHING",
        ordinal,
        name,
    )


def _with_epoch(value: bytes | None, name: str) -> bytes:
    assert value is not None
    return value.replace(f'"history_epoch":"{EPOCH}"'.encode(), f'"history_epoch":"{name}"'.encode())
