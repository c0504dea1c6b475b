"""The receipt: intake's answer, which says that a capture is durable and names its first job."""

from typing import Annotated, Literal

from pydantic import Field

from assay_contracts import bounds, fields
from assay_contracts.fields import Message, Tuple


class StoredArtifact(Message):
    """An artifact whose bytes are in evidence storage."""

    artifact_id: fields.BoundedArtifactId
    ref: fields.EvidenceUri
    sha256: fields.Sha256
    media_type: fields.MediaType
    bytes: Annotated[int, Field(ge=0, le=bounds.POSITION)]


class Receipt(Message):
    """The same receipt answers every retry of its request; `body_sha256` tells a retry from another request."""

    schema_version: Literal["receipt/1"] = "receipt/1"
    receipt_id: fields.BoundedReceiptId
    capture_id: fields.BoundedCaptureId
    tenant_id: fields.BoundedTenantId
    catalog_id: fields.BoundedCatalogId
    source_id: fields.BoundedSourceId
    received_at: fields.Timestamp
    artifacts: Annotated[Tuple[StoredArtifact], Field(min_length=1, max_length=bounds.ARTIFACTS)]
    job_id: fields.JobId
    body_sha256: fields.Sha256
