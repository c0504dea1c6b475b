"""Every statement that intake runs; each belongs to its caller's transaction, which knows the tenant already."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from assay_contracts.ids import ArtifactId, CaptureId, CatalogId, JobId, ReceiptId, SourceId, Stage, TenantId
from assay_contracts.messages import CaptureRequest
from assay_resolver.jobs import JobState
from assay_runtime.http import StoredKey
from assay_runtime.sql import load
from psycopg import AsyncConnection
from psycopg.rows import TupleRow, class_row

from assay_intake.capture import ReceivedArtifact, Upload

_API_KEY = load("assay_intake", "api_key")
_CAPTURE = load("assay_intake", "capture")
_EVIDENCE = load("assay_intake", "evidence")
_RECEIPT = load("assay_intake", "receipt")

Connection = AsyncConnection[TupleRow]


@dataclass(frozen=True)
class Surroundings:
    """What the database knows of the names that a request uses."""

    catalog_known: bool
    source_known: bool
    key_bound: bool


@dataclass(frozen=True)
class ReceiptRow:
    """A receipt and what it needs of its capture."""

    receipt_id: ReceiptId
    capture_id: CaptureId
    tenant_id: TenantId
    catalog_id: CatalogId
    source_id: SourceId
    received_at: datetime
    body_digest: bytes


@dataclass(frozen=True)
class ArtifactRow:
    """An artifact of a capture."""

    artifact_id: ArtifactId
    sha256: str
    media_type: str
    size_bytes: int


@dataclass(frozen=True)
class CaptureRow:
    """A capture as it was accepted, with its receipt."""

    capture_id: CaptureId
    receipt_id: ReceiptId
    catalog_id: CatalogId
    source_id: SourceId
    url: str | None
    key: str | None
    fetch_status: int
    observed_at: datetime
    received_at: datetime
    attempt_group: int
    pin_adapter: str | None
    pin_profile: str | None
    trace_id: str | None


@dataclass(frozen=True)
class JobRow:
    """What became of one stage's work on a capture."""

    job_id: JobId
    stage: Stage
    attempt_group: int
    state: JobState
    outcome: str | None
    cause: str | None
    attempt: int
    due_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


async def find_key(connection: Connection, key_id: str) -> StoredKey | None:
    """What is stored of an API key; needs no tenant."""
    cursor = await connection.execute(_API_KEY["find_key"], {"key_id": key_id})
    row = await cursor.fetchone()
    return None if row is None else StoredKey(row[0], row[1], frozenset(row[2]), row[3])


async def look_around(connection: Connection, tenant_id: TenantId, request: CaptureRequest) -> Surroundings:
    """Whether the request's catalog and source exist, and whether its idempotency key is bound."""
    async with connection.cursor(row_factory=class_row(Surroundings)) as cursor:
        await cursor.execute(
            _RECEIPT["look_around"],
            {
                "tenant_id": tenant_id,
                "catalog_id": request.catalog_id,
                "source_id": request.source_id,
                "idempotency_key": request.idempotency_key,
            },
        )
        found = await cursor.fetchone()
    if found is None:
        raise LookupError("look_around answers with one row")
    return found


async def promise_evidence(connection: Connection, tenant_id: TenantId, artifacts: Sequence[ReceivedArtifact]) -> None:
    """Account for bytes that are about to be put; those that have a row keep it."""
    await connection.execute(
        _EVIDENCE["promise_evidence"],
        {
            "tenant_id": tenant_id,
            "sha256": [artifact.sha256 for artifact in artifacts],
            "bytes": [artifact.size_bytes for artifact in artifacts],
            "media_type": [artifact.media_type for artifact in artifacts],
        },
    )


async def mark_stored(connection: Connection, tenant_id: TenantId, sha256: Sequence[str]) -> None:
    """The bytes are in the bucket."""
    await connection.execute(_EVIDENCE["mark_stored"], {"tenant_id": tenant_id, "sha256": list(sha256)})


async def find_stored(connection: Connection, tenant_id: TenantId, sha256: str) -> int | None:
    """How many bytes the tenant has stored under this hash."""
    cursor = await connection.execute(_EVIDENCE["find_stored"], {"tenant_id": tenant_id, "sha256": sha256})
    row = await cursor.fetchone()
    return None if row is None else int(row[0])


async def accept_capture(
    connection: Connection, receipt: ReceiptRow, upload: Upload, artifacts: Sequence[ArtifactRow]
) -> bool:
    """Write capture, artifacts and receipt; False, and nothing is written, if the idempotency key is bound."""
    request, pins = upload.request, upload.request.pins
    cursor = await connection.execute(
        _RECEIPT["accept_capture"],
        {
            "tenant_id": receipt.tenant_id,
            "receipt_id": receipt.receipt_id,
            "capture_id": receipt.capture_id,
            "idempotency_key": request.idempotency_key,
            "body_digest": receipt.body_digest,
            "received_at": receipt.received_at,
            "catalog_id": request.catalog_id,
            "source_id": request.source_id,
            "url": request.url,
            "key": request.key,
            "fetch_status": request.fetch_status,
            "observed_at": upload.observed_at,
            "pin_adapter": pins and pins.adapter,
            "pin_profile": pins and pins.profile,
            "trace_id": request.trace_id,
            "artifact_id": [artifact.artifact_id for artifact in artifacts],
            "sha256": [artifact.sha256 for artifact in artifacts],
            "media_type": [artifact.media_type for artifact in artifacts],
            "bytes": [artifact.size_bytes for artifact in artifacts],
        },
    )
    return await cursor.fetchone() is not None


async def find_receipt_by_key(connection: Connection, tenant_id: TenantId, key: str) -> ReceiptRow | None:
    """The receipt that this idempotency key is bound to."""
    async with connection.cursor(row_factory=class_row(ReceiptRow)) as cursor:
        await cursor.execute(_RECEIPT["find_by_key"], {"tenant_id": tenant_id, "idempotency_key": key})
        return await cursor.fetchone()


async def find_receipt(connection: Connection, tenant_id: TenantId, receipt_id: str) -> ReceiptRow | None:
    """One receipt of the tenant."""
    async with connection.cursor(row_factory=class_row(ReceiptRow)) as cursor:
        await cursor.execute(_RECEIPT["find_by_id"], {"tenant_id": tenant_id, "receipt_id": receipt_id})
        return await cursor.fetchone()


async def find_capture(connection: Connection, tenant_id: TenantId, capture_id: str) -> CaptureRow | None:
    """One capture of the tenant."""
    async with connection.cursor(row_factory=class_row(CaptureRow)) as cursor:
        await cursor.execute(_CAPTURE["find_capture"], {"tenant_id": tenant_id, "capture_id": capture_id})
        return await cursor.fetchone()


async def list_artifacts(connection: Connection, tenant_id: TenantId, capture_id: str) -> list[ArtifactRow]:
    """A capture's artifacts, in the order in which they came."""
    async with connection.cursor(row_factory=class_row(ArtifactRow)) as cursor:
        await cursor.execute(_CAPTURE["list_artifacts"], {"tenant_id": tenant_id, "capture_id": capture_id})
        return await cursor.fetchall()


async def list_jobs(connection: Connection, tenant_id: TenantId, capture_id: str) -> list[JobRow]:
    """A capture's jobs, oldest first."""
    async with connection.cursor(row_factory=class_row(JobRow)) as cursor:
        await cursor.execute(_CAPTURE["list_jobs"], {"tenant_id": tenant_id, "capture_id": capture_id})
        return await cursor.fetchall()
