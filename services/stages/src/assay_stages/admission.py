"""Whether one delivery of a job may run now: decided from the locked rows alone, without a clock or a connection."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from assay_contracts.envelope import Envelope
from assay_contracts.messages import ResolutionJob
from assay_resolver.jobs import MAX_LONE_DEATHS, CaptureRow, JobRow

from assay_stages.errors import Reason


@dataclass(frozen=True, slots=True)
class Run:
    """Go on; `deaths` counts the starts that ended their process while nothing ran beside them."""

    deaths: int


class Skip(StrEnum):
    """Acknowledge and do nothing: the row says that this delivery is not the one to act on."""

    ENDED = "ended"
    OTHER_EPOCH = "other_epoch"
    OTHER_ATTEMPT = "other_attempt"
    EARLY = "early"


@dataclass(frozen=True, slots=True)
class Supersede:
    """A later attempt group has taken over."""


@dataclass(frozen=True, slots=True)
class RunAlone:
    """An earlier start has no end: wait until nothing else runs in this process, then ask again."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """Dead-letter it, and end its job if there is one, unless the record is not that job's (`of_the_job`)."""

    reason: Reason
    cause: str
    deaths: int = 0
    of_the_job: bool = True


Admission = Run | RunAlone | Skip | Supersede | Refuse


def admit(
    envelope: Envelope[ResolutionJob],
    capture: CaptureRow | None,
    job: JobRow | None,
    *,
    alone: bool,
    begun_here: datetime | None,
) -> Admission:
    """Decide on a start. `begun_here`: when this living process last began the job; nobody died of that start."""
    if capture is None or job is None:
        return Refuse("no_job", "nobody promised this job")
    hindrance = hindered(envelope, capture, job)
    if hindrance is not None:
        return hindrance
    if not job.due:
        return Skip.EARLY
    died = job.start_has_no_end and job.started_at != begun_here
    deaths = job.deaths + 1 if died and job.started_alone else job.deaths
    if deaths >= MAX_LONE_DEATHS:
        return Refuse("kills_its_process", f"{deaths} starts ended their process with nothing beside them", deaths)
    if (died or job.started_alone) and not alone:
        return RunAlone()
    return Run(deaths)


def hindered(envelope: Envelope[ResolutionJob], capture: CaptureRow, job: JobRow) -> Skip | Supersede | Refuse | None:
    """What keeps this delivery from taking effect, asked before the work and again in the result's transaction."""
    payload = envelope.payload
    if job.state != "open":
        return Skip.ENDED
    if job.history_epoch != payload.history_epoch:
        return Skip.OTHER_EPOCH
    if job.attempt != envelope.attempt:
        return Skip.OTHER_ATTEMPT
    if not job.promised:
        return Refuse("not_as_promised", "the job's row promises another payload", of_the_job=False)
    if job.epoch_state != "open":
        return Refuse("closed_epoch", f"history epoch {payload.history_epoch} is closed")
    if capture.attempt_group > payload.attempt_group:
        return Supersede()
    if (capture.catalog_id, capture.source_id) != (payload.catalog_id, payload.source_id):
        return Refuse("capture_mismatch", "the committed capture belongs to another catalog or source")
    return None
