"""The stages' own tables: extractions, readings and facts. Nothing here commits."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

from assay_contracts.ids import ReadingId
from assay_contracts.messages import ResolutionJob
from assay_runtime.sql import load
from psycopg import AsyncConnection
from psycopg.rows import TupleRow, class_row, scalar_row

from assay_stages.extract.facts import Outcome
from assay_stages.normalize.reading import Reading

Connection: TypeAlias = AsyncConnection[TupleRow]

_EXTRACTION = load("assay_stages", "extraction")
_READING = load("assay_stages", "reading")


@dataclass(frozen=True, slots=True)
class ExtractionRow:
    """What one adapter found in one artifact; `found` is the JSON of its raw facts."""

    sha256: str
    adapter: str
    outcome: Outcome
    found: bytes


async def insert_extractions(conn: Connection, job: ResolutionJob, rows: Sequence[ExtractionRow]) -> None:
    """Store what the job's adapters found."""
    async with conn.cursor() as cursor:
        await cursor.executemany(_EXTRACTION["insert_extraction"], [_group(job) | asdict(row) for row in rows])


async def list_extractions(conn: Connection, job: ResolutionJob) -> list[ExtractionRow]:
    """All that the job's attempt group found, in the order of adapter and artifact."""
    async with conn.cursor(row_factory=class_row(ExtractionRow)) as cursor:
        await cursor.execute(_EXTRACTION["list_extractions"], _group(job))
        return await cursor.fetchall()


async def list_outcomes(conn: Connection, job: ResolutionJob) -> list[Outcome]:
    """How the adapters of the job's attempt group ended."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(_EXTRACTION["list_outcomes"], _group(job))
        return await cursor.fetchall()


async def insert_reading(
    conn: Connection, job: ResolutionJob, reading_id: ReadingId, key: str, reading: Reading
) -> None:
    """Store a reading with its facts; `key` is that of the listing that it speaks for."""
    group = _group(job) | {"reading_id": reading_id}
    await conn.execute(
        _READING["insert_reading"],
        group
        | {
            "node": reading.node,
            "key": key,
            "group_key": reading.group_key,
            "profile": reading.profile,
            "digest": reading.digest,
        },
    )
    async with conn.cursor() as cursor:
        await cursor.executemany(_READING["insert_fact"], [group | asdict(fact) for fact in reading.facts])


def _group(job: ResolutionJob) -> dict[str, object]:
    return {
        "tenant_id": job.tenant_id,
        "catalog_id": job.catalog_id,
        "capture_id": job.capture_id,
        "attempt_group": job.attempt_group,
    }
