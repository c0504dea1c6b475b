"""What intake tells of a capture: what was handed in, and how far its jobs came."""

from collections.abc import Sequence
from typing import Literal

from assay_contracts.evidence import evidence_uri
from assay_contracts.ids import TenantId
from assay_contracts.messages import StoredArtifact
from assay_contracts.timestamps import timestamp
from pydantic import BaseModel

from assay_intake.store import ArtifactRow, CaptureRow, JobRow

CaptureState = Literal["open", "done", "dead"]


class JobView(BaseModel):
    """One stage's work; `outcome` says what it found, if only `nothing`, `cause` why it was given up or tried again."""

    job_id: str
    stage: str
    attempt_group: int
    state: Literal["open", "done", "dead", "superseded"]
    outcome: str | None
    cause: str | None
    attempt: int
    due_at: str
    started_at: str | None
    ended_at: str | None


class CaptureView(BaseModel):
    """A capture of the tenant.

    `state` is `open` while work is left in the latest attempt group, `dead` if some of it was given up, else `done`;
    `outcome` is that of the job that ended last, once all is done.
    """

    capture_id: str
    receipt_id: str
    catalog_id: str
    source_id: str
    url: str | None
    key: str | None
    fetch_status: int
    observed_at: str
    received_at: str
    attempt_group: int
    adapter: str | None
    profile: str | None
    trace_id: str | None
    state: CaptureState
    outcome: str | None
    artifacts: list[StoredArtifact]
    jobs: list[JobView]


def capture_view(
    tenant_id: TenantId, row: CaptureRow, artifacts: Sequence[ArtifactRow], jobs: Sequence[JobRow]
) -> CaptureView:
    """Put together what the database knows of a capture."""
    current = [job for job in jobs if job.attempt_group == row.attempt_group]
    state = standing(current)
    return CaptureView(
        capture_id=row.capture_id,
        receipt_id=row.receipt_id,
        catalog_id=row.catalog_id,
        source_id=row.source_id,
        url=row.url,
        key=row.key,
        fetch_status=row.fetch_status,
        observed_at=timestamp(row.observed_at),
        received_at=timestamp(row.received_at),
        attempt_group=row.attempt_group,
        adapter=row.pin_adapter,
        profile=row.pin_profile,
        trace_id=row.trace_id,
        state=state,
        outcome=current[-1].outcome if state == "done" and current else None,
        artifacts=[_artifact_view(tenant_id, artifact) for artifact in artifacts],
        jobs=[_job_view(job) for job in jobs],
    )


def standing(jobs: Sequence[JobRow]) -> CaptureState:
    """How far the jobs of one attempt group came."""
    states = {job.state for job in jobs}
    if "open" in states:
        return "open"
    return "dead" if "dead" in states else "done"


def _artifact_view(tenant_id: TenantId, row: ArtifactRow) -> StoredArtifact:
    return StoredArtifact(
        artifact_id=row.artifact_id,
        ref=evidence_uri(tenant_id, row.sha256),
        sha256=row.sha256,
        media_type=row.media_type,
        bytes=row.size_bytes,
    )


def _job_view(row: JobRow) -> JobView:
    return JobView(
        job_id=row.job_id,
        stage=row.stage,
        attempt_group=row.attempt_group,
        state=row.state,
        outcome=row.outcome,
        cause=row.cause,
        attempt=row.attempt,
        due_at=timestamp(row.due_at),
        started_at=row.started_at and timestamp(row.started_at),
        ended_at=row.ended_at and timestamp(row.ended_at),
    )
