"""What the stages' tests stand on: tenants, captures with stored evidence, jobs as rows and as messages."""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import LiteralString, TypeVar, cast
from uuid import UUID

import psycopg
from assay_cli.stack.databases import Database
from assay_contracts.ids import Stage, TenantId, job_id, new_id, uuid7
from assay_contracts.messages import ArtifactRef, Pins, ResolutionJob
from assay_contracts.timestamps import timestamp
from assay_resolver.jobs import NewJob, message
from assay_runtime.evidence import EvidenceStore, ref_for
from assay_runtime.kafka import Delivered, Outgoing, Publisher, message_headers, topic_ids
from assay_runtime.settings import EvidenceSettings, KafkaSettings
from psycopg.rows import TupleRow, dict_row

JOBS = "resolution.job.v1"
EPOCH = "history-1"
CATALOG = "cat_main"
SOURCE = "src_shop"

T = TypeVar("T")

PRODUCT_PAGE = b"""<html><head><script type="application/ld+json">
{"@context": "https://schema.org", "@type": "Product", "name": "Solar Lamp", "brand": "Helio",
 "gtin13": "4006381333931", "mpn": "HL-2000",
 "offers": {"@type": "Offer", "price": "12.50", "priceCurrency": "EUR", "availability": "InStock"}}
</script></head><body><h1>Solar Lamp</h1></body></html>"""
PAGE_WITHOUT_PRODUCT = b"<html><head><title>About us</title></head><body><p>We sell lamps.</p></body></html>"


@dataclass(frozen=True)
class Place:
    """One resolver database, bucket and set of topics."""

    database: Database
    kafka: KafkaSettings
    evidence: EvidenceSettings
    evidence_environment: Mapping[str, str]
    publisher: Publisher

    def rows(self, statement: LiteralString, *values: object) -> list[dict[str, object]]:
        """Rows past all row level security."""
        with psycopg.connect(self.database.admin_dsn) as connection, connection.cursor(row_factory=dict_row) as cursor:
            return cast("list[dict[str, object]]", cursor.execute(statement, values).fetchall())

    def run(self, statement: LiteralString, *values: object) -> None:
        """Change something behind the stages' back."""
        with psycopg.connect(self.database.admin_dsn, autocommit=True) as connection:
            connection.execute(statement, values)

    def job(self, job: ResolutionJob) -> dict[str, object]:
        """The job's row."""
        found = self.rows("SELECT * FROM job WHERE tenant_id = %s AND job_id = %s", job.tenant_id, job.job_id)
        assert len(found) == 1, f"{job.job_id}: {len(found)} rows"
        return found[0]

    def jobs_of(self, job: ResolutionJob) -> dict[str, tuple[str, str | None]]:
        """State and outcome of each job of the capture, by stage."""
        found = self.rows(
            "SELECT stage, state, outcome FROM job WHERE tenant_id = %s AND capture_id = %s",
            job.tenant_id,
            job.capture_id,
        )
        return {str(row["stage"]): (str(row["state"]), cast("str | None", row["outcome"])) for row in found}

    def dead_letters(self, tenant_id: str | None = None) -> list[dict[str, object]]:
        """All of a tenant, or those that name none."""
        if tenant_id is None:
            return self.rows("SELECT * FROM dead_letter WHERE tenant_id IS NULL ORDER BY created_at")
        return self.rows("SELECT * FROM dead_letter WHERE tenant_id = %s ORDER BY created_at", tenant_id)

    def send(self, key: bytes, value: bytes, headers: list[tuple[str, bytes]] | None = None) -> Delivered:
        """Put a record on the jobs topic."""
        return self.publisher.publish_batch([Outgoing(JOBS, key, value, headers or [])])[0]

    def message(self, job: ResolutionJob) -> bytes:
        """The message of the job's current attempt, from its row."""
        row = self.job(job)
        envelope_id, payload = row["envelope_id"], row["payload"]
        assert isinstance(envelope_id, UUID)
        assert isinstance(payload, bytes)
        return message(envelope_id, int(str(row["envelope_ts"])), int(str(row["attempt"])), payload)

    def send_job(self, job: ResolutionJob) -> Delivered:
        """Send the job as its row says, as the sweeper would, and note where it stands."""
        headers = message_headers(str(self.job(job)["envelope_id"]), job.schema_version, job.trace_id)
        sent = self.send(job.tenant_id.encode(), self.message(job), headers)
        self.run(
            "UPDATE job SET sent_topic_id = %s, sent_partition = %s, sent_offset = %s"
            " WHERE tenant_id = %s AND job_id = %s",
            topic_ids(self.kafka, [JOBS])[JOBS],
            sent.partition,
            sent.offset,
            job.tenant_id,
            job.job_id,
        )
        return sent


def wait_for(condition: Callable[[], T], seconds: float = 20.0) -> T:
    """The condition's first answer that is true, within the deadline."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not true within {seconds} s")
        time.sleep(0.05)
    return found


def new_tenant(place: Place) -> TenantId:
    """A tenant of this test's own, with one catalog and one source."""
    tenant_id = TenantId(f"ten_{uuid.uuid4().hex}")
    place.run("INSERT INTO tenant (tenant_id) VALUES (%s)", tenant_id)
    place.run("INSERT INTO catalog (tenant_id, catalog_id) VALUES (%s, %s)", tenant_id, CATALOG)
    place.run("INSERT INTO source (tenant_id, source_id) VALUES (%s, %s)", tenant_id, SOURCE)
    return tenant_id


def tenants_of_one_partition(place: Place) -> tuple[TenantId, TenantId]:
    """Two tenants whose jobs share a partition."""
    by_partition = dict[int, TenantId]()
    while True:
        tenant = new_tenant(place)
        other = by_partition.setdefault(_partition(place, tenant), tenant)
        if other != tenant:
            return other, tenant


def tenants_of_two_partitions(place: Place) -> tuple[TenantId, TenantId]:
    """Two tenants whose jobs lie in different partitions."""
    one = new_tenant(place)
    while True:
        other = new_tenant(place)
        if _partition(place, one) != _partition(place, other):
            return one, other


def _partition(place: Place, tenant: TenantId) -> int:
    return place.send(tenant.encode(), b"shows the tenant's partition").partition


async def capture(
    place: Place,
    tenant_id: TenantId,
    page: bytes = PRODUCT_PAGE,
    *,
    pins: Pins | None = None,
    stage: Stage = "extract",
    stored: bool = True,
    epoch: str = EPOCH,
    fetch_status: int = 200,
    media_type: str = "text/html",
) -> ResolutionJob:
    """A committed capture with evidence, receipt and an open first job, as intake leaves it, unsent."""
    job = new_job(tenant_id, page, pins=pins, stage=stage, epoch=epoch, media_type=media_type)
    if stored:
        async with EvidenceStore(place.evidence) as store:
            await store.put(tenant_id, job.artifacts[0].sha256, page, "text/html")
    with psycopg.connect(place.database.admin_dsn) as connection:
        _insert_capture(connection, job, fetch_status)
        _insert_job(connection, job)
    return job


def captures(place: Place, tenants: Sequence[TenantId], count: int) -> list[NewJob]:
    """So many captures without stored evidence, each tenant's in turn, all in one transaction."""
    jobs = [new_job(tenants[number % len(tenants)], b"scripted") for number in range(count)]
    with psycopg.connect(place.database.admin_dsn) as connection, connection.pipeline():
        for job in jobs:
            _insert_capture(connection, job, 200)
        return [_insert_job(connection, job) for job in jobs]


def new_job(
    tenant_id: TenantId,
    page: bytes,
    *,
    pins: Pins | None = None,
    stage: Stage = "extract",
    epoch: str = EPOCH,
    media_type: str = "text/html",
) -> ResolutionJob:
    """A job that nobody promised."""
    capture_id, digest = new_id("cap"), sha256(page).hexdigest()
    artifact = ArtifactRef(
        artifact_id=new_id("art"),
        ref=ref_for(tenant_id, digest),
        sha256=digest,
        media_type=media_type,
        bytes=len(page),
    )
    return ResolutionJob.model_validate(
        {
            "job_id": job_id(capture_id, stage, 1),
            "stage": stage,
            "tenant_id": tenant_id,
            "catalog_id": CATALOG,
            "capture_id": capture_id,
            "receipt_id": new_id("rcpt"),
            "source_id": SOURCE,
            "artifacts": (artifact,),
            "pins": pins,
            "enqueued_at": timestamp(datetime.now(UTC)),
            "attempt_group": 1,
            "history_epoch": epoch,
        }
    )


def _insert_capture(connection: psycopg.Connection[TupleRow], job: ResolutionJob, fetch_status: int) -> None:
    artifact = job.artifacts[0]
    connection.execute(
        "INSERT INTO evidence (tenant_id, sha256, bytes, media_type, state) VALUES (%s, %s, %s, 'text/html', 'stored')"
        " ON CONFLICT DO NOTHING",
        [job.tenant_id, artifact.sha256, artifact.bytes],
    )
    connection.execute(
        "INSERT INTO capture (tenant_id, capture_id, catalog_id, source_id, url, fetch_status, observed_at,"
        " received_at) VALUES (%s, %s, %s, %s, %s, %s, now(), now())",
        [job.tenant_id, job.capture_id, job.catalog_id, job.source_id, _url(job), fetch_status],
    )
    connection.execute(
        "INSERT INTO artifact (tenant_id, artifact_id, capture_id, ordinal, sha256, media_type, bytes)"
        " VALUES (%s, %s, %s, 0, %s, 'text/html', %s)",
        [job.tenant_id, artifact.artifact_id, job.capture_id, artifact.sha256, artifact.bytes],
    )
    connection.execute(
        "INSERT INTO receipt (tenant_id, receipt_id, capture_id, idempotency_key, body_digest, received_at)"
        " VALUES (%s, %s, %s, %s, %s, now())",
        [job.tenant_id, job.receipt_id, job.capture_id, job.capture_id, b"digest"],
    )


def _url(job: ResolutionJob) -> str:
    return f"https://shop.example/{job.capture_id}"


def _insert_job(connection: psycopg.Connection[TupleRow], job: ResolutionJob) -> NewJob:
    new = NewJob(job, uuid7(), int(time.time()))
    connection.execute(
        "INSERT INTO job (tenant_id, job_id, capture_id, stage, attempt_group, history_epoch, envelope_id, envelope_ts,"
        " payload) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [
            job.tenant_id,
            job.job_id,
            job.capture_id,
            job.stage,
            job.attempt_group,
            job.history_epoch,
            new.envelope_id,
            new.envelope_ts,
            new.payload(),
        ],
    )
    return new
