"""Dead letters: messages given up on, kept whole and with their cause before their offset moves."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from assay_contracts.ids import JobId, TenantId
from assay_runtime.sql import load
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

CAUSE_KEPT = 1_000

_SQL = load("assay_resolver", "dead_letter")


@dataclass(frozen=True, slots=True)
class Origin:
    """The Kafka record as it came: which topic by id and name, which partition and offset, and all its bytes."""

    topic_id: UUID
    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """`reason` is a code from a closed list, `cause` a sentence; a record that nobody can read has no tenant or job."""

    origin: Origin
    reason: str
    cause: str
    tenant_id: TenantId | None = None
    job_id: JobId | None = None
    stage: str | None = None


async def insert_dead_letter(conn: AsyncConnection[TupleRow], letter: DeadLetter) -> bool:
    """Keep the record; False if it is kept already. The sweeper copies the row to the dead-letter topic."""
    origin = letter.origin
    cursor = await conn.execute(
        _SQL["insert_dead_letter"],
        {
            "topic_id": origin.topic_id,
            "partition": origin.partition,
            "offset": origin.offset,
            "topic": origin.topic,
            "tenant_id": letter.tenant_id,
            "job_id": letter.job_id,
            "stage": letter.stage,
            "reason": letter.reason,
            "cause": _storable(letter.cause),
            "key": origin.key,
            "value": origin.value,
            "headers": headers_to_json(origin.headers),
        },
    )
    return cursor.rowcount == 1


def headers_to_json(headers: Sequence[tuple[str, bytes | None]]) -> str:
    """A JSON array of [name, base64 of the value or null], in their order."""
    return json.dumps([[name, None if value is None else base64.b64encode(value).decode()] for name, value in headers])


def _storable(cause: str) -> str:
    """Cut, and without what Postgres cannot hold as text."""
    return cause[:CAUSE_KEPT].replace("\x00", "").encode("utf-8", "replace").decode()
