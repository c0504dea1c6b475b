"""The execution record: what stays of a job, or of any run of an extension, once it has ended."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from assay_contracts import fields
from assay_contracts.fields import Tuple
from assay_contracts.shapes import Record
from assay_contracts.worker_job import ExtensionKind, FailureReason, Milliseconds, Runner

Amount = Annotated[int, Field(ge=0)]


class Execution(Record):
    """One end of one run; `duration_ms` is the time between its two moments."""

    id: Annotated[str, Field(pattern=r"^e-[0-9]{8}-[0-9]{6}-[0-9a-f]{4}$")]
    extension_id: str
    extension_version: str
    extension_kind: ExtensionKind
    node_ids: Tuple[str]
    content_hash: fields.Sha256 | None = None
    status: Literal["completed", "failed", "cancelled"]
    failure_reason: FailureReason | None = None
    exit_code: int | None = None
    runner: Runner | None = None
    started_at: Milliseconds
    finished_at: Milliseconds
    duration_ms: Amount | None = None
    tokens_in: Amount | None = None
    tokens_out: Amount | None = None
    report_ref: fields.EvidenceUri | None = None
    job_id: Annotated[str, Field(pattern=r"^d-[0-9]{8}-[0-9]{6}-[0-9a-f]{4}$")] | None = None

    @model_validator(mode="after")
    def _check_reason(self) -> Self:
        if (self.status == "failed") == (self.failure_reason is None):
            raise ValueError("a failure has a reason, and nothing else has one")
        return self
