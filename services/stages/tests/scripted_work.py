"""A stage whose work is what the test says, handled without Faust over the real parts."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from assay_contracts.ids import Stage
from assay_contracts.messages import ResolutionJob
from assay_resolver.dead_letters import Origin
from assay_resolver.jobs import CaptureRow
from assay_runtime.kafka import topic_ids
from assay_runtime.postgres import AsyncPool, open_async_pool
from assay_stages.announcing import Announcer
from assay_stages.handling import Handler
from assay_stages.slots import Slots, SlotTable
from assay_stages.store import Connection
from assay_stages.work import Effect, Ended, Work
from pydantic import SecretStr

from .world import JOBS, Place

Prepare = Callable[[ResolutionJob, CaptureRow], Awaitable[Effect]]


async def write_nothing(_conn: Connection) -> Ended:
    """An effect without rows."""
    return Ended("ok")


@dataclass
class ScriptedWork:
    """Does what the test says; counts how often it was asked."""

    stage: Stage = "extract"
    next_stage: Stage | None = "normalize"
    effect: Effect = write_nothing
    failures: list[Exception] = field(default_factory=list[Exception])
    prepared: list[str] = field(default_factory=list[str])

    async def prepare(self, job: ResolutionJob, capture: CaptureRow) -> Effect:
        """Raise the next failure that is left, else hand out the effect."""
        self.prepared.append(job.job_id)
        if self.failures:
            raise self.failures.pop(0)
        return self.effect


@dataclass(frozen=True)
class Hands:
    """A handler and what it stands on."""

    place: Place
    pool: AsyncPool
    work: Work
    handler: Handler

    def another(self, work: Work | None = None, table: SlotTable | None = None) -> "Hands":
        """The same parts under another process's memory."""
        return _hands(self.place, self.pool, work or self.work, table)

    def sent(self, job: ResolutionJob, headers: Sequence[tuple[str, bytes]] = ()) -> Origin:
        """The job's message, really sent, as a consumer would get it."""
        delivered = self.place.send_job(job)
        return self.record(job.tenant_id.encode(), self.place.message(job), delivered.partition, delivered.offset)

    def record(self, key: bytes | None, value: bytes | None, partition: int = 0, offset: int = 0) -> Origin:
        """Any record."""
        topic_id = topic_ids(self.place.kafka, [JOBS])[JOBS]
        return Origin(topic_id, JOBS, partition, offset, key, value, (("schema", b"resolution.job/1"),))


def _hands(place: Place, pool: AsyncPool, work: Work, table: SlotTable | None) -> Hands:
    announcer = Announcer(place.publisher, pool, topic_ids(place.kafka, [JOBS]))
    return Hands(place, pool, work, Handler(work, pool, announcer, Slots(table)))


@asynccontextmanager
async def hands(
    place: Place, work: Work, *, table: SlotTable | None = None, dsn: str | None = None
) -> AsyncGenerator[Hands]:
    """A handler as a process would have it, under the stages' role."""
    secret = SecretStr(dsn or place.database.dsn("assay_stages"))
    async with await open_async_pool(secret, 1, 4, "stages-test") as pool:
        yield _hands(place, pool, work, table)
