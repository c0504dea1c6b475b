"""The stream cursor: the lock that a decision takes first, and the position and digest where its history ends.

Who holds the cursor row's lock is the stream's only writer until its transaction ends. Everything that a decision
rests on is read by statements that start after `lock` returned. A rollback gives back every position it took.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from assay_runtime import sql
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from assay_resolver.errors import UnknownStream

Connection: TypeAlias = AsyncConnection[TupleRow]

_SQL = sql.load("assay_resolver", "cursor")


@dataclass(frozen=True, slots=True)
class Stream:
    """What positions are counted in."""

    tenant_id: str
    catalog_id: str
    history_epoch: str

    @property
    def scope(self) -> dict[str, object]:
        """The parameters that begin every key of a catalog."""
        return {"tenant_id": self.tenant_id, "catalog_id": self.catalog_id}


@dataclass(slots=True)
class Cursor:
    """The end of a locked stream. now: the database's clock after the wait for the lock."""

    stream: Stream
    position: int
    digest: bytes
    now: datetime

    def take(self, event_id: UUID, value: bytes) -> None:
        """Go on by one event; `value` is its outbox row's bytes."""
        self.position += 1
        self.digest = running_digest(self.digest, self.position, event_id, value)


def running_digest(before: bytes, position: int, event_id: UUID, value: bytes) -> bytes:
    """SHA-256 over the digest so far, the position (8 bytes, big-endian), the event id and the value's SHA-256."""
    return next_digest(before, position, event_id, hashlib.sha256(value).digest())


def next_digest(before: bytes, position: int, event_id: UUID, value_sha256: bytes) -> bytes:
    """The same for a value of which only the hash is at hand."""
    return hashlib.sha256(before + position.to_bytes(8, "big") + event_id.bytes + value_sha256).digest()


async def lock(conn: Connection, stream: Stream) -> Cursor:
    """Become the stream's only writer, waiting for the one before. UnknownStream if its epoch is not open."""
    parameters = {**stream.scope, "history_epoch": stream.history_epoch}
    await conn.execute(_SQL["ensure_cursor"], parameters)
    row = await (await conn.execute(_SQL["lock_cursor"], parameters)).fetchone()
    clock = await (await conn.execute(_SQL["read_clock"], parameters)).fetchone()
    if row is None or clock is None or clock[1] != "open":
        raise UnknownStream
    return Cursor(stream, row[0], row[1], clock[0])


async def advance(conn: Connection, cursor: Cursor) -> None:
    """Store where the stream now ends."""
    await conn.execute(
        _SQL["advance_cursor"],
        {
            **cursor.stream.scope,
            "history_epoch": cursor.stream.history_epoch,
            "position": cursor.position,
            "digest": cursor.digest,
        },
    )
