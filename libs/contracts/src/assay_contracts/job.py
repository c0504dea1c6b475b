"""The resolution job: one stage's unit of work on one capture, by reference and never by bytes."""

from typing import Annotated, Literal

from pydantic import Field

from assay_contracts import bounds, fields
from assay_contracts.fields import Message, Optional, Tuple
from assay_contracts.ids import Stage


class ArtifactRef(Message):
    """A stored and verified artifact."""

    artifact_id: fields.ArtifactId
    ref: Annotated[str, Field(pattern=r"^r2://evidence-private/")]
    sha256: fields.Sha256
    media_type: str
    bytes: Annotated[int, Field(ge=0)]


class Pins(Message):
    """The versions that an operator asked for; what is absent is chosen automatically."""

    adapter: Optional[fields.Adapter] = None
    profile: Optional[fields.Profile] = None


class ResolutionJob(Message):
    """A job on `resolution.job.v1`; `job_id` is the key of the stages' inbox."""

    schema_version: Literal["resolution.job/1"] = "resolution.job/1"
    job_id: fields.JobId
    stage: Stage
    tenant_id: fields.TenantId
    catalog_id: fields.CatalogId
    capture_id: fields.CaptureId
    receipt_id: fields.ReceiptId
    source_id: fields.SourceId
    artifacts: Annotated[Tuple[ArtifactRef], Field(min_length=1, max_length=bounds.ARTIFACTS)]
    pins: Pins | None
    enqueued_at: fields.Timestamp
    attempt_group: Annotated[int, Field(ge=1)]
    trace_id: Optional[str] = None
    history_epoch: Annotated[str, Field(min_length=1)]
