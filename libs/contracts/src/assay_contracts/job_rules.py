"""What a worker's job, its execution record and a report say twice, and must say alike."""

from assay_contracts.contradictions import Contradictions, Document


def check_job(job: Document) -> Contradictions:
    """A job states what its status allows, and an expiry that follows from its claim."""
    status = job["status"]
    if job.get("failureReason") is not None and status != "failed":
        yield "failure_reason_mismatch", ("failureReason",), "is that of a job that has not failed"
    if job.get("findingIds") == []:
        yield "no_findings", ("findingIds",), "names none; all of them is null"
    if status == "queued" and job.get("claimedAt") is not None:
        yield "state_mismatch", ("claimedAt",), "is that of a queued job"
    if status in ("queued", "running") and job.get("finishedAt") is not None:
        yield "state_mismatch", ("finishedAt",), "is that of a job that has not ended"
    if job.get("expiresAt") not in (None, _expiry(job)):
        yield "expiry_mismatch", ("expiresAt",), "is not claimedAt and ttlSeconds together"


def check_execution(execution: Document) -> Contradictions:
    """An execution ends when it began or later, and lasted as long as that says."""
    lasted = execution["finishedAt"] - execution["startedAt"]
    if lasted < 0:
        yield "duration_mismatch", ("finishedAt",), "is before startedAt"
    if execution.get("durationMs") not in (None, lasted):
        yield "duration_mismatch", ("durationMs",), "is not finishedAt less startedAt"


def _expiry(job: Document) -> int | None:
    claimed, lives = job.get("claimedAt"), job["ttlSeconds"]
    return None if claimed is None or lives is None else claimed + lives * 1000
