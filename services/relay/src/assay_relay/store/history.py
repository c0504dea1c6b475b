"""The SQL of the served history: pages, digests, snapshots; every function runs in its caller's transaction."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from assay_resolver.epochs import Epoch
from assay_resolver.snapshot import READ_FACTS, FactRow
from assay_resolver.streams import Connection, Stream
from assay_runtime.sql import load
from psycopg.rows import class_row

_SQL = load("assay_relay", "history")

FACTS_AT_ONCE: Final = 500


class EventRow(NamedTuple):
    """One event with its value as Kafka got it, to the byte."""

    position: int
    event_id: UUID
    value: bytes


class HashRow(NamedTuple):
    """What the running digest takes of one event."""

    position: int
    event_id: UUID
    sha256: bytes


class SnapshotRow(NamedTuple):
    """A snapshot: its place, what proves it, and the object that holds it."""

    position: int
    digest: bytes
    sha256: str
    bytes: int
    facts: int
    is_genesis: bool
    created_at: datetime


async def find_open_epoch(conn: Connection) -> str | None:
    """The open epoch's name; None only between a restore and its advance."""
    row = await (await conn.execute(_SQL["find_open_epoch"])).fetchone()
    return None if row is None else str(row[0])


async def list_epochs(conn: Connection) -> list[Epoch]:
    """The registry, oldest first."""
    async with conn.cursor(row_factory=class_row(Epoch)) as cursor:
        await cursor.execute(_SQL["list_epochs"])
        return await cursor.fetchall()


async def read_page(conn: Connection, stream: Stream, after: int, until: int, most_bytes: int) -> list[EventRow]:
    """Events with `after < position <= until` in order; it ends early once it holds so many bytes."""
    parameters = {**_key(stream), "after": after, "until": until, "most_bytes": most_bytes}
    rows = await conn.execute(_SQL["read_page"], parameters, binary=True)
    return [EventRow(*row) for row in await rows.fetchall()]


async def read_hashes(conn: Connection, stream: Stream, after: int, until: int) -> list[HashRow]:
    """What a digest takes of the events with `after < position <= until`, in order."""
    parameters = {**_key(stream), "after": after, "until": until}
    rows = await conn.execute(_SQL["read_hashes"], parameters, binary=True)
    return [HashRow(*row) for row in await rows.fetchall()]


async def count_changes(conn: Connection, stream: Stream, until: int) -> int:
    """How many of the positions 1..until the history holds."""
    row = await (await conn.execute(_SQL["count_changes"], {**_key(stream), "until": until})).fetchone()
    return 0 if row is None else int(row[0])


async def find_anchor(conn: Connection, stream: Stream, until: int) -> tuple[int, bytes] | None:
    """The nearest snapshot's position and digest at or below a position."""
    row = await (await conn.execute(_SQL["find_anchor"], {**_key(stream), "until": until})).fetchone()
    return None if row is None else (int(row[0]), bytes(row[1]))


async def read_facts(conn: Connection, stream: Stream) -> AsyncIterator[FactRow]:
    """Every accepted fact of the stream's catalog as of the transaction's snapshot, a few in memory at a time."""
    async with conn.cursor(name="facts") as cursor:
        cursor.itersize = FACTS_AT_ONCE
        await cursor.execute(READ_FACTS, stream.scope)
        async for row in cursor:
            yield FactRow(*row)


async def find_snapshot(conn: Connection, stream: Stream, position: int | None) -> SnapshotRow | None:
    """The snapshot at a position, or the latest."""
    row = await (await conn.execute(_SQL["find_snapshot"], {**_key(stream), "position": position})).fetchone()
    return None if row is None else SnapshotRow(*row)


async def insert_snapshot(conn: Connection, stream: Stream, snapshot: SnapshotRow) -> None:
    """Note a snapshot whose object is stored; the first one of a position stands."""
    await conn.execute(_SQL["insert_snapshot"], {**_key(stream), **snapshot._asdict()})


def _key(stream: Stream) -> dict[str, object]:
    return {**stream.scope, "history_epoch": stream.history_epoch}
