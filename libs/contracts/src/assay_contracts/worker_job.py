"""The worker's job: probabilistic work by one extension on one target, in the three shapes that surfaces show."""

from typing import Annotated, Literal

from pydantic import Field

from assay_contracts import fields
from assay_contracts.fields import Optional, Tuple
from assay_contracts.shapes import Record

ExtensionKind = Literal["action", "analyzer"]
JobStatus = Literal["queued", "running", "completed", "failed", "cancelled"]
FailureReason = Literal["runner-error", "report-invalid", "timeout", "abandoned", "job-file-missing", "user-failed"]
Runner = Literal["agent", "in-process"]
Milliseconds = int
"""Since the epoch."""


class _JobFields(Record):
    """What all three shapes of a job have; none of them is another, so that none passes for it."""

    id: Annotated[str, Field(pattern=r"^d-[0-9]{8}-[0-9]{6}-[0-9a-f]{4}$")]
    extension_id: str
    extension_version: str
    extension_kind: ExtensionKind
    node_id: str
    content_hash: fields.Sha256
    priority: int = 0
    finding_ids: Tuple[int] | None = None
    auto_fix: bool = False
    status: JobStatus
    failure_reason: FailureReason | None = None
    runner: Runner | None = None
    ttl_seconds: Annotated[int, Field(ge=1)] | None
    created_at: Milliseconds
    claimed_at: Milliseconds | None = None
    finished_at: Milliseconds | None = None
    expires_at: Milliseconds | None = None
    submitted_by: str | None = None


class PublicJob(_JobFields):
    """A job without its nonce: what every reader may see."""


class Job(_JobFields):
    """A job as its queue keeps it, with or without its nonce."""

    nonce: Optional[str] = Field(default=None, repr=False)


class CredentialedJob(_JobFields):
    """A job with the one credential that can record it."""

    nonce: str = Field(repr=False)
