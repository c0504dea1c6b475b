"""How an attempt that failed is written down: another one later, or a dead letter and the end of its job."""

from assay_contracts.envelope import Envelope
from assay_contracts.ids import Stage
from assay_contracts.messages import ResolutionJob
from assay_resolver import jobs
from assay_resolver.dead_letters import DeadLetter, Origin, insert_dead_letter
from assay_runtime.logs import get_logger
from assay_runtime.postgres import AsyncPool

from assay_stages import metrics
from assay_stages.admission import Refuse
from assay_stages.failures import TryAgain
from assay_stages.store import Connection

log = get_logger()


async def refuse(
    pool: AsyncPool, stage: Stage, origin: Origin, envelope: Envelope[ResolutionJob] | None, refusal: Refuse
) -> None:
    """Keep the record as a dead letter and, in the same transaction, end the job whose current attempt it is.

    `envelope` is None for a record whose tenant nobody can tell.
    """
    async with pool.connection() as conn, conn.transaction():
        await _refuse(conn, stage, origin, envelope, refusal)
    metrics.DEAD_LETTERS.labels(refusal.reason).inc()
    log.error(
        "message.dead_lettered",
        reason=refusal.reason,
        cause=refusal.cause,
        topic=origin.topic,
        partition=origin.partition,
        offset=origin.offset,
        job_id=envelope.payload.job_id if envelope else None,
    )


async def retry_or_refuse(
    pool: AsyncPool, stage: Stage, origin: Origin, envelope: Envelope[ResolutionJob], failure: TryAgain
) -> bool:
    """Schedule another attempt, unless this was the last one; returns whether there will be another."""
    job = envelope.payload
    if envelope.attempt >= jobs.MAX_ATTEMPTS:
        await refuse(pool, stage, origin, envelope, Refuse(failure.reason, failure.cause))
        return False
    async with pool.connection() as conn:
        await jobs.retry_job(conn, job.tenant_id, job.job_id, envelope.attempt, failure.cause)
    metrics.RETRIES.labels(failure.reason).inc()
    log.warning(
        "job.retry_scheduled",
        job_id=job.job_id,
        attempt=envelope.attempt + 1,
        reason=failure.reason,
        cause=failure.cause,
        seconds=jobs.retry_delay_seconds(envelope.attempt),
    )
    return True


async def _refuse(
    conn: Connection, stage: Stage, origin: Origin, envelope: Envelope[ResolutionJob] | None, refusal: Refuse
) -> None:
    if envelope is None:
        await insert_dead_letter(conn, DeadLetter(origin, refusal.reason, refusal.cause, stage=stage))
        return
    job = envelope.payload
    row = await jobs.lock_job(conn, job)
    if (
        row is not None
        and refusal.of_the_job
        and row.promised
        and row.attempt == envelope.attempt
        and row.history_epoch == job.history_epoch
    ):
        cause = f"{refusal.reason}: {refusal.cause}"
        deaths = max(row.deaths, refusal.deaths)
        await jobs.kill_job(conn, job.tenant_id, job.job_id, cause, deaths)
    letter = DeadLetter(origin, refusal.reason, refusal.cause, job.tenant_id, job.job_id, stage)
    await insert_dead_letter(conn, letter)
