"""Resolution jobs ③: one row per unit of work, from its promise through sends and attempts to its end.

Every function works inside the caller's transaction and never commits. The lock order is capture, then job.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from assay_contracts.encoder import encode
from assay_contracts.envelope import Envelope
from assay_contracts.ids import CaptureId, CatalogId, JobId, SourceId, TenantId
from assay_contracts.messages import ResolutionJob
from assay_runtime.sql import load
from psycopg import AsyncConnection
from psycopg.rows import TupleRow, class_row, scalar_row

from assay_resolver.epochs import EpochState

JobState = Literal["open", "done", "dead", "superseded"]

FIRST_ATTEMPT = 1
MAX_ATTEMPTS = 5
MAX_LONE_DEATHS = 5
FIRST_DELAY_SECONDS = 1.0
LONGEST_DELAY_SECONDS = 60.0

_SQL = load("assay_resolver", "job")


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job that is about to be promised: its payload and the envelope that every send of it carries."""

    job: ResolutionJob
    envelope_id: UUID
    envelope_ts: int

    def message(self) -> bytes:
        """The Kafka value of its first attempt; InvalidMessage if no reader would take it, for its size too."""
        return encode(Envelope(id=self.envelope_id, ts=self.envelope_ts, attempt=FIRST_ATTEMPT, payload=self.job))

    def payload(self) -> bytes:
        """What the job row keeps: the payload as it stands inside the message."""
        return payload_of(self.job)


@dataclass(frozen=True, slots=True)
class SentJob:
    """Where the broker keeps the message of one attempt of a job."""

    tenant_id: TenantId
    job_id: JobId
    attempt: int
    topic_id: UUID
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class CaptureRow:
    """What a stage needs of the committed capture."""

    catalog_id: CatalogId
    source_id: SourceId
    url: str | None
    key: str | None
    fetch_status: int
    attempt_group: int
    pin_adapter: str | None
    pin_profile: str | None


@dataclass(frozen=True, slots=True)
class JobRow:
    """A locked job. `start_has_no_end`: the last start died, or somebody is still at it.

    `promised`: the message that asks for it says what the row says, so that nobody who can write to the topic alone
    can have other bytes read in its name.
    """

    state: JobState
    attempt: int
    history_epoch: str
    epoch_ordinal: int
    epoch_state: EpochState
    due: bool
    started_alone: bool
    deaths: int
    started_at: datetime | None
    start_has_no_end: bool
    promised: bool


def payload_of(job: ResolutionJob) -> bytes:
    """A job's payload in the one way in which rows and messages write it."""
    return job.model_dump_json().encode()


def message(envelope_id: UUID, envelope_ts: int, attempt: int, payload: bytes) -> bytes:
    """The Kafka value of one attempt: EnvelopeV1 around the payload's bytes as the job row holds them."""
    head = f'{{"version":1,"id":"{envelope_id}","ts":{envelope_ts},"attempt":{attempt},"payload":'
    return head.encode() + payload + b"}"


def retry_delay_seconds(attempt: int) -> float:
    """How long after the failure of `attempt` the next one is due: 1 s, doubled each time, at most 60 s."""
    return min(LONGEST_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2 ** min(attempt - 1, 16))


async def insert_job(conn: AsyncConnection[TupleRow], new: NewJob) -> None:
    """Promise the work; who sends it after the commit calls `record_sent`, else the sweeper sends it."""
    job = new.job
    await conn.execute(
        _SQL["insert_job"],
        {
            "tenant_id": job.tenant_id,
            "job_id": job.job_id,
            "capture_id": job.capture_id,
            "stage": job.stage,
            "attempt_group": job.attempt_group,
            "history_epoch": job.history_epoch,
            "envelope_id": new.envelope_id,
            "envelope_ts": new.envelope_ts,
            "payload": new.payload(),
        },
    )


async def record_sent(conn: AsyncConnection[TupleRow], sent: SentJob) -> None:
    """Note where the broker acknowledged the message, if the job is still open in that attempt."""
    await conn.execute(
        _SQL["record_sent"],
        {
            "tenant_id": sent.tenant_id,
            "job_id": sent.job_id,
            "attempt": sent.attempt,
            "topic_id": sent.topic_id,
            "partition": sent.partition,
            "offset": sent.offset,
        },
    )


async def lock_capture_shared(
    conn: AsyncConnection[TupleRow], tenant_id: TenantId, capture_id: CaptureId
) -> CaptureRow | None:
    """Lock the capture FOR SHARE, so that no reprocess raises its group before this transaction ends."""
    async with conn.cursor(row_factory=class_row(CaptureRow)) as cursor:
        await cursor.execute(_SQL["lock_capture_shared"], {"tenant_id": tenant_id, "capture_id": capture_id})
        return await cursor.fetchone()


async def lock_job(conn: AsyncConnection[TupleRow], job: ResolutionJob) -> JobRow | None:
    """Lock the row of a job that a message asks for, or None if nobody promised it. Lock its capture first."""
    parameters = {"tenant_id": job.tenant_id, "job_id": job.job_id, "payload": payload_of(job)}
    async with conn.cursor(row_factory=class_row(JobRow)) as cursor:
        await cursor.execute(_SQL["lock_job"], parameters)
        return await cursor.fetchone()


async def start_job(
    conn: AsyncConnection[TupleRow], tenant_id: TenantId, job_id: JobId, *, alone: bool, deaths: int
) -> datetime:
    """Note that work begins, with nothing beside it in its process (`alone`) or not; returns this start's time.

    Only for a job that this transaction has locked and found open. `deaths` counts the lone starts that died.
    """
    parameters = {"tenant_id": tenant_id, "job_id": job_id, "alone": alone, "deaths": deaths}
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(_SQL["start_job"], parameters)
        started_at: datetime | None = await cursor.fetchone()
    assert started_at is not None, "a start needs an open job"
    return started_at


async def end_start(conn: AsyncConnection[TupleRow], tenant_id: TenantId, job_id: JobId, attempt: int) -> None:
    """Note that the start ended without a result and without anybody's fault, so that it does not look like a death."""
    await conn.execute(_SQL["end_start"], {"tenant_id": tenant_id, "job_id": job_id, "attempt": attempt})


async def finish_job(
    conn: AsyncConnection[TupleRow], tenant_id: TenantId, job_id: JobId, outcome: str, cause: str | None = None
) -> None:
    """The job is done, with an outcome that people can read and, where that is not what they hoped for, its cause."""
    parameters = {"tenant_id": tenant_id, "job_id": job_id, "outcome": outcome, "cause": cause}
    await conn.execute(_SQL["finish_job"], parameters)


async def retry_job(
    conn: AsyncConnection[TupleRow], tenant_id: TenantId, job_id: JobId, attempt: int, cause: str
) -> None:
    """Schedule the attempt after this one, if this one is still the job's; only the sweeper sends it."""
    await conn.execute(
        _SQL["retry_job"],
        {
            "tenant_id": tenant_id,
            "job_id": job_id,
            "attempt": attempt,
            "cause": cause,
            "delay_seconds": retry_delay_seconds(attempt),
        },
    )


async def kill_job(
    conn: AsyncConnection[TupleRow], tenant_id: TenantId, job_id: JobId, cause: str, deaths: int
) -> None:
    """Give up on the job; the caller writes its dead letter in the same transaction."""
    await conn.execute(_SQL["kill_job"], {"tenant_id": tenant_id, "job_id": job_id, "cause": cause, "deaths": deaths})


async def supersede_job(conn: AsyncConnection[TupleRow], tenant_id: TenantId, job_id: JobId) -> None:
    """Leave the work to a later attempt group."""
    await conn.execute(_SQL["supersede_job"], {"tenant_id": tenant_id, "job_id": job_id})
