"""What a stage does with one record of `resolution.job.v1`, whoever delivers it: decode, fence, start, work, finish.

Authority: the job row, locked. A delivery takes effect only if its row is open, due, and of the same attempt, epoch
and current attempt group, before the work and again in the transaction that writes its result.
Crash at each step: before the start, nothing happened. After it, the next delivery finds a start without an end and
runs alone. Before the result's commit, nothing took effect. After it, the job is done and its successor's row exists;
the sweeper sends what was not sent. Before the acknowledgement, the next delivery finds the job done.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import assert_never

import psycopg
from assay_contracts.decoder import check_key, decode
from assay_contracts.envelope import Envelope
from assay_contracts.errors import InvalidMessage
from assay_contracts.ids import JobId
from assay_contracts.messages import ResolutionJob
from assay_resolver import inbox, jobs
from assay_resolver.dead_letters import Origin
from assay_resolver.jobs import CaptureRow, NewJob
from assay_runtime.failpoints import failpoint
from assay_runtime.logs import get_logger
from assay_runtime.postgres import AsyncPool

from assay_stages import metrics
from assay_stages.admission import Admission, Refuse, Run, RunAlone, Skip, Supersede, admit, hindered
from assay_stages.announcing import Announcer
from assay_stages.failures import GiveUp, TryAgain, Wait, classify
from assay_stages.fence import Fence
from assay_stages.giving_up import refuse, retry_or_refuse
from assay_stages.next_job import follow
from assay_stages.slots import Slots
from assay_stages.solitude import Solitude
from assay_stages.work import Effect, Ended, Work

log = get_logger()

TOPIC = "resolution.job.v1"


class Verdict(StrEnum):
    """What became of a message that may be acknowledged."""

    DONE = "done"
    OTHER_STAGE = "other_stage"
    DUPLICATE = "duplicate"
    RETRIED = "retried"
    SUPERSEDED = "superseded"
    DEAD_LETTERED = "dead_lettered"


@dataclass(frozen=True, slots=True)
class _Delivery:
    """A readable record of this stage."""

    origin: Origin
    envelope: Envelope[ResolutionJob]

    @property
    def job(self) -> ResolutionJob:
        return self.envelope.payload


@dataclass(frozen=True, slots=True)
class _Following:
    """The next job as its row and as its message, which every reader takes."""

    job: NewJob
    message: bytes


def read(origin: Origin) -> Envelope[ResolutionJob] | Refuse:
    """Decode the record; why not, if it is no message or not under its tenant's key."""
    try:
        envelope = decode(TOPIC, origin.value)
        check_key(TOPIC, origin.key, envelope.payload)
    except InvalidMessage as error:
        return Refuse(error.reason, str(error))
    return envelope


class Handler:
    """One per process; any number of records may be handled at once."""

    def __init__(self, work: Work, pool: AsyncPool, announcer: Announcer, slots: Slots) -> None:
        """Takes an open pool; `slots` may be without a table."""
        self._work = work
        self._pool = pool
        self._announcer = announcer
        self._slots = slots
        self._fence = Fence(pool)
        self._solitude = Solitude()
        self._begun: dict[JobId, datetime] = {}

    async def handle(self, origin: Origin) -> Verdict:
        """Bring one record to an end that is committed. While a dependency is away this raises: call it again."""
        envelope = read(origin)
        if isinstance(envelope, Refuse):
            return await self._give_up(origin, None, envelope)
        if envelope.payload.stage != self._work.stage:
            return Verdict.OTHER_STAGE
        return await self._handle_own(_Delivery(origin, envelope))

    async def _handle_own(self, delivery: _Delivery) -> Verdict:
        """Fence first, then the fast path, then Postgres."""
        epoch = await self._fence.check(delivery.job.history_epoch)
        if isinstance(epoch, Refuse):
            return await self._give_up(delivery.origin, delivery.envelope, epoch)
        if self._slots.has_done(delivery.origin.partition, epoch.ordinal, delivery.job.job_id):
            return Verdict.DUPLICATE
        verdict = await self._run_suitably(delivery)
        if verdict is Verdict.DONE:
            self._slots.remember_done(delivery.origin.partition, epoch.ordinal, delivery.job.job_id)
        return verdict

    async def _run_suitably(self, delivery: _Delivery) -> Verdict:
        """Beside others, unless an earlier start of the job has no end."""
        async with self._solitude.beside_others():
            verdict = await self._run(delivery, alone=False)
        if verdict is None:
            async with self._solitude.alone():
                verdict = await self._run(delivery, alone=True)
        assert verdict is not None, "who is alone is never asked to be alone"
        return verdict

    async def _run(self, delivery: _Delivery, *, alone: bool) -> Verdict | None:
        """Start, work and finish; None if it must run alone and does not."""
        admission, capture = await self._start(delivery, alone=alone)
        if not isinstance(admission, Run):
            return await self._turn_away(delivery, admission)
        assert capture is not None, "a job is admitted with its capture"
        failpoint("stages.after_start")
        try:
            with metrics.JOB_SECONDS.time():
                effect = await self._work.prepare(delivery.job, capture)
                following = self._following(delivery.job)
                ended = await self._finish(delivery, effect, following)
        except Exception as error:  # whatever the work raised is this attempt's failure: named, counted, written down
            return await self._fail(delivery, error)
        failpoint("stages.after_commit")
        self._begun.pop(delivery.job.job_id, None)
        if ended is None:
            return Verdict.DUPLICATE
        if following is not None:
            await self._announcer.announce(following.job, TOPIC, following.message)
            failpoint("stages.after_publish")
        return Verdict.DONE

    async def _start(self, delivery: _Delivery, *, alone: bool) -> tuple[Admission, CaptureRow | None]:
        """The first transaction: note the start of the work, if the rows allow it."""
        job = delivery.job
        begun_here = self._begun.get(job.job_id)
        async with self._pool.connection() as conn, conn.transaction():
            capture = await jobs.lock_capture_shared(conn, job.tenant_id, job.capture_id)
            row = await jobs.lock_job(conn, job)
            admission = admit(delivery.envelope, capture, row, alone=alone, begun_here=begun_here)
            if isinstance(admission, Run):
                deaths = admission.deaths
                self._begun[job.job_id] = await jobs.start_job(
                    conn, job.tenant_id, job.job_id, alone=alone, deaths=deaths
                )
            elif isinstance(admission, Supersede):
                await jobs.supersede_job(conn, job.tenant_id, job.job_id)
        return admission, capture

    def _following(self, job: ResolutionJob) -> _Following | None:
        if self._work.next_stage is None:
            return None
        new = follow(job, self._work.next_stage, datetime.now(UTC))
        return _Following(new, new.message())

    async def _finish(self, delivery: _Delivery, effect: Effect, following: _Following | None) -> Ended | None:
        """The second transaction: result, inbox row, next job, end. None if another delivery was faster."""
        job = delivery.job
        async with self._pool.connection() as conn, conn.transaction():
            capture = await jobs.lock_capture_shared(conn, job.tenant_id, job.capture_id)
            row = await jobs.lock_job(conn, job)
            if capture is None or row is None or hindered(delivery.envelope, capture, row):
                return None
            if not await inbox.insert_done(conn, job.tenant_id, job.job_id):
                return None
            ended = await effect(conn)
            await jobs.finish_job(conn, job.tenant_id, job.job_id, ended.outcome, ended.cause)
            if following is not None:
                await jobs.insert_job(conn, following.job)
            failpoint("stages.before_commit")
        log.info(
            "job.done", job_id=job.job_id, outcome=ended.outcome, cause=ended.cause, attempt=delivery.envelope.attempt
        )
        return ended

    async def _turn_away(self, delivery: _Delivery, admission: RunAlone | Skip | Supersede | Refuse) -> Verdict | None:
        match admission:
            case RunAlone():
                return None
            case Supersede():
                return Verdict.SUPERSEDED
            case Refuse():
                return await self._give_up(delivery.origin, delivery.envelope, admission)
            case Skip.OTHER_EPOCH:
                return await self._judge_again(delivery)
            case Skip.ENDED | Skip.OTHER_ATTEMPT | Skip.EARLY:
                log.info("job.skipped", job_id=delivery.job.job_id, why=admission.value)
                return Verdict.DUPLICATE
            case _:
                assert_never(admission)

    async def _judge_again(self, delivery: _Delivery) -> Verdict:
        """The row was minted anew for another epoch, so what the fence remembers is old."""
        await self._fence.reread()
        epoch = await self._fence.check(delivery.job.history_epoch)
        if isinstance(epoch, Refuse):
            return await self._give_up(delivery.origin, delivery.envelope, epoch)
        return Verdict.DUPLICATE

    async def _fail(self, delivery: _Delivery, error: Exception) -> Verdict:
        """Write the failure down, or raise it again if somebody else's absence is to blame."""
        failure = classify(error)
        match failure:
            case Wait():
                await self._end_start(delivery)
                raise error
            case GiveUp(reason, cause):
                return await self._give_up(delivery.origin, delivery.envelope, Refuse(reason, cause))
            case TryAgain():
                stage = self._work.stage
                again = await retry_or_refuse(self._pool, stage, delivery.origin, delivery.envelope, failure)
                self._begun.pop(delivery.job.job_id, None)
                return Verdict.RETRIED if again else Verdict.DEAD_LETTERED
            case _:
                assert_never(failure)

    async def _end_start(self, delivery: _Delivery) -> None:
        """Spare the job the suspicion of having killed this process, should somebody stop it meanwhile."""
        job = delivery.job
        try:
            async with self._pool.connection() as conn:
                await jobs.end_start(conn, job.tenant_id, job.job_id, delivery.envelope.attempt)
        except psycopg.Error as error:
            log.info("job.start_not_ended", job_id=job.job_id, error_type=type(error).__name__)

    async def _give_up(self, origin: Origin, envelope: Envelope[ResolutionJob] | None, refusal: Refuse) -> Verdict:
        await refuse(self._pool, self._work.stage, origin, envelope, refusal)
        if envelope is not None:
            self._begun.pop(envelope.payload.job_id, None)
        return Verdict.DEAD_LETTERED
