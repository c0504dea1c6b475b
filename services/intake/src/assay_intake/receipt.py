"""② The durable promise: capture, receipt and first job in one transaction, and the same receipt for every retry.

Only the commit binds an idempotency key. Of equal requests that race, one inserts the receipt; the others wait for its
transaction, insert nothing, and read what it committed. A crash before the commit leaves no trace but bytes that have
a pending evidence row; after it the job row is there, whoever sends it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from assay_contracts import ids
from assay_contracts.evidence import evidence_uri
from assay_contracts.ids import TenantId
from assay_contracts.messages import ArtifactRef, Pins, Receipt, ResolutionJob, StoredArtifact
from assay_contracts.timestamps import timestamp
from assay_resolver.epochs import open_epoch
from assay_resolver.jobs import NewJob, insert_job
from assay_runtime.postgres import AsyncPool, set_tenant

from assay_intake import store
from assay_intake.capture import Upload
from assay_intake.errors import KeyReused, NoOpenHistory
from assay_intake.store import ArtifactRow, ReceiptRow

FIRST_GROUP = 1
FIRST_STAGE: ids.Stage = "extract"


@dataclass(frozen=True)
class Accepted:
    """The answer to a capture; `first_job` is there if this very request made it."""

    receipt: Receipt
    first_job: NewJob | None


async def commit(pool: AsyncPool, tenant_id: TenantId, upload: Upload) -> Accepted:
    """Make the capture durable, or find that it already was; KeyReused if its key belongs to another request."""
    async with pool.connection() as connection:
        await set_tenant(connection, tenant_id)
        accepted = await _write(connection, tenant_id, upload)
        if accepted is not None:
            return accepted
        await connection.rollback()
    return await repeat(pool, tenant_id, upload)


async def repeat(pool: AsyncPool, tenant_id: TenantId, upload: Upload) -> Accepted:
    """The first receipt of the upload's idempotency key."""
    async with pool.connection() as connection:
        await set_tenant(connection, tenant_id)
        row = await store.find_receipt_by_key(connection, tenant_id, upload.request.idempotency_key)
        if row is None or row.body_digest != upload.digest():
            raise KeyReused
        artifacts = await store.list_artifacts(connection, tenant_id, row.capture_id)
    return Accepted(receipt_of(row, artifacts), None)


def receipt_of(row: ReceiptRow, artifacts: Sequence[ArtifactRow]) -> Receipt:
    """The receipt as clients see it: the same each time."""
    return Receipt(
        receipt_id=row.receipt_id,
        capture_id=row.capture_id,
        tenant_id=row.tenant_id,
        catalog_id=row.catalog_id,
        source_id=row.source_id,
        received_at=timestamp(row.received_at),
        artifacts=tuple(
            StoredArtifact(
                artifact_id=artifact.artifact_id,
                ref=evidence_uri(row.tenant_id, artifact.sha256),
                sha256=artifact.sha256,
                media_type=artifact.media_type,
                bytes=artifact.size_bytes,
            )
            for artifact in artifacts
        ),
        job_id=ids.job_id(row.capture_id, FIRST_STAGE, FIRST_GROUP),
        body_sha256=row.body_digest.hex(),
    )


async def _write(connection: store.Connection, tenant_id: TenantId, upload: Upload) -> Accepted | None:
    epoch = await open_epoch(connection)
    if epoch is None:
        raise NoOpenHistory
    row = _new_receipt(tenant_id, upload)
    artifacts = _new_artifacts(upload)
    await store.mark_stored(connection, tenant_id, [artifact.sha256 for artifact in artifacts])
    if not await store.accept_capture(connection, row, upload, artifacts):
        return None
    receipt = receipt_of(row, artifacts)
    first_job = _first_job(receipt, upload, epoch.name)
    await insert_job(connection, first_job)
    return Accepted(receipt, first_job)


def _new_receipt(tenant_id: TenantId, upload: Upload) -> ReceiptRow:
    return ReceiptRow(
        receipt_id=ids.new_id("rcpt"),
        capture_id=ids.new_id("cap"),
        tenant_id=tenant_id,
        catalog_id=upload.request.catalog_id,
        source_id=upload.request.source_id,
        received_at=upload.received_at,
        body_digest=upload.digest(),
    )


def _new_artifacts(upload: Upload) -> list[ArtifactRow]:
    return [
        ArtifactRow(ids.new_id("art"), artifact.sha256, artifact.media_type, artifact.size_bytes)
        for artifact in upload.artifacts
    ]


def _first_job(receipt: Receipt, upload: Upload, history_epoch: str) -> NewJob:
    pins = upload.request.pins
    job = ResolutionJob(
        job_id=receipt.job_id,
        stage=FIRST_STAGE,
        tenant_id=receipt.tenant_id,
        catalog_id=receipt.catalog_id,
        capture_id=receipt.capture_id,
        receipt_id=receipt.receipt_id,
        source_id=receipt.source_id,
        artifacts=tuple(ArtifactRef(**artifact.model_dump()) for artifact in receipt.artifacts),
        pins=None if pins is None else Pins(adapter=pins.adapter, profile=pins.profile),
        enqueued_at=receipt.received_at,
        attempt_group=FIRST_GROUP,
        trace_id=upload.request.trace_id,
        history_epoch=history_epoch,
    )
    return NewJob(job, envelope_id=ids.uuid7(), envelope_ts=int(upload.received_at.timestamp()))
