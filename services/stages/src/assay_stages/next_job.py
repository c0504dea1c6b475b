"""The job that follows: the same capture, artifacts, pins, group, epoch and trace, for the next stage."""

from datetime import datetime

from assay_contracts.ids import Stage, job_id, uuid7
from assay_contracts.messages import ResolutionJob
from assay_contracts.timestamps import timestamp
from assay_resolver.jobs import NewJob


def follow(done: ResolutionJob, stage: Stage, now: datetime) -> NewJob:
    """The job of `stage` after `done`, in an envelope of its own."""
    job = done.model_copy(
        update={
            "stage": stage,
            "job_id": job_id(done.capture_id, stage, done.attempt_group),
            "enqueued_at": timestamp(now),
        }
    )
    return NewJob(job, envelope_id=uuid7(), envelope_ts=int(now.timestamp()))
