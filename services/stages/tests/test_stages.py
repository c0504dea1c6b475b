"""What each stage writes for a capture: extractions, then one reading with facts, then a decision."""

from collections.abc import AsyncIterator

import pytest
from assay_contracts.ids import TenantId
from assay_contracts.messages import ResolutionJob
from assay_resolver.jobs import payload_of
from assay_runtime.evidence import EvidenceStore
from assay_stages.extract.facts import from_json
from assay_stages.extract_stage import ExtractStage, summary
from assay_stages.handling import Verdict
from assay_stages.identity_stage import IdentityStage
from assay_stages.normalize_stage import NormalizeStage
from assay_stages.reader_threads import ReaderThreads

from .scripted_work import Hands, hands
from .world import PAGE_WITHOUT_PRODUCT, PRODUCT_PAGE, Place, capture, new_tenant

STATUS_GONE = 410


@pytest.fixture
async def extract(shared_place: Place) -> AsyncIterator[Hands]:
    """The extract stage, from which the others' hands are made."""
    threads = ReaderThreads(30)
    async with (
        EvidenceStore(shared_place.evidence) as store,
        hands(shared_place, ExtractStage(store, threads)) as stage,
    ):
        yield stage
    threads.close()


async def _run_chain(extract: Hands, job: ResolutionJob) -> None:
    """The job and its successors, as three processes would handle them."""
    threads = ReaderThreads(30)
    normalize = extract.another(NormalizeStage(extract.pool, threads))
    identity = extract.another(IdentityStage())
    for stage in (extract, normalize, identity):
        one = job.model_copy(
            update={"stage": stage.work.stage, "job_id": f"{job.capture_id}:{stage.work.stage}:{job.attempt_group}"}
        )
        assert await stage.handler.handle(stage.sent(one)) is Verdict.DONE, stage.place.job(one)["cause"]
    threads.close()


def _readings(place: Place, job: ResolutionJob) -> list[dict[str, object]]:
    return place.rows("SELECT * FROM reading WHERE capture_id = %s", job.capture_id)


async def test_a_product_page_becomes_extractions_a_reading_and_an_item(
    shared_place: Place, tenant: TenantId, extract: Hands
) -> None:
    job = await capture(shared_place, tenant)
    await _run_chain(extract, job)
    extractions = shared_place.rows("SELECT * FROM extraction WHERE capture_id = %s ORDER BY adapter", job.capture_id)
    assert [(row["adapter"], row["outcome"]) for row in extractions] == [
        ("pa_opengraph@1.0.0", "nothing"),
        ("pa_schema_org@1.0.0", "ok"),
    ]
    found = extractions[1]["found"]
    assert isinstance(found, bytes)
    assert "Solar Lamp" in {fact.raw for fact in from_json(found) if fact.name == "name"}
    (reading,) = _readings(shared_place, job)
    assert (reading["key"], reading["profile"]) == (f"https://shop.example/{job.capture_id}", "np_product@1")
    assert str(reading["reading_id"]).startswith("rdg_")
    facts = shared_place.rows("SELECT * FROM fact WHERE reading_id = %s ORDER BY n", reading["reading_id"])
    assert ("gtin", '{"code":"04006381333931","type":"code"}') in [(fact["name"], fact["value"]) for fact in facts]
    assert shared_place.jobs_of(job)["identity"] == ("done", "created")
    assert len(shared_place.rows("SELECT 1 FROM item WHERE tenant_id = %s", tenant)) == 1


async def test_the_same_bytes_twice_in_one_capture_are_read_once(
    shared_place: Place, tenant: TenantId, extract: Hands
) -> None:
    job = await capture(shared_place, tenant)
    first = job.artifacts[0]
    second = first.model_copy(update={"artifact_id": "art_second"})
    twice = job.model_copy(update={"artifacts": (first, second)})
    shared_place.run("UPDATE job SET payload = %s WHERE job_id = %s", twice.model_dump_json().encode(), job.job_id)
    assert await extract.handler.handle(extract.sent(job)) is Verdict.DONE
    assert len(shared_place.rows("SELECT 1 FROM extraction WHERE capture_id = %s", job.capture_id)) == 2


async def test_a_page_without_a_product_ends_as_nothing_with_its_cause(
    shared_place: Place, tenant: TenantId, extract: Hands
) -> None:
    job = await capture(shared_place, tenant, PAGE_WITHOUT_PRODUCT)
    await _run_chain(extract, job)
    assert shared_place.jobs_of(job) == dict.fromkeys(("extract", "normalize", "identity"), ("done", "nothing"))
    causes = shared_place.rows("SELECT cause FROM job WHERE capture_id = %s AND stage = 'identity'", job.capture_id)
    assert causes == [{"cause": "no adapter found a product"}]
    assert _readings(shared_place, job) == []


async def test_a_page_that_answered_with_an_error_is_no_product(
    shared_place: Place, tenant: TenantId, extract: Hands
) -> None:
    job = await capture(shared_place, tenant, fetch_status=STATUS_GONE)
    await _run_chain(extract, job)
    assert _readings(shared_place, job) == []
    assert shared_place.jobs_of(job)["identity"] == ("done", "nothing")


@pytest.mark.parametrize(
    "name", ["a\\u0000b", "a\\ud800b", "x" * 3_000, "\\u202e\\u200b"], ids=["nul", "surrogate", "long", "invisible"]
)
async def test_a_page_that_postgres_could_not_store_as_it_stands_still_ends(
    shared_place: Place, tenant: TenantId, extract: Hands, name: str
) -> None:
    job = await capture(shared_place, tenant, PRODUCT_PAGE.replace(b"Solar Lamp", name.encode()))
    await _run_chain(extract, job)
    assert shared_place.jobs_of(job)["identity"][0] == "done"


def test_of_several_adapters_the_best_outcome_speaks() -> None:
    assert summary(["nothing", "ok", "broken"]).outcome == "ok"
    assert summary(["nothing", "broken"]).outcome == "broken"
    assert summary(["nothing"]).outcome == "nothing"


async def test_extract_reads_no_other_tenants_object_whatever_the_row_says(
    shared_place: Place, tenant: TenantId, extract: Hands
) -> None:
    theirs = await capture(shared_place, new_tenant(shared_place), b"<html>theirs</html>")
    job = await capture(shared_place, tenant)
    artifact = job.artifacts[0].model_copy(update={"ref": theirs.artifacts[0].ref, "bytes": theirs.artifacts[0].bytes})
    pointing = job.model_copy(update={"artifacts": (artifact,)})
    shared_place.run("UPDATE job SET payload = %s WHERE job_id = %s", payload_of(pointing), job.job_id)
    assert await extract.handler.handle(extract.sent(job)) is Verdict.RETRIED
    assert "does not name the job's tenant" in str(shared_place.job(job)["cause"])
    assert shared_place.rows("SELECT 1 FROM extraction WHERE tenant_id = %s", tenant) == []
