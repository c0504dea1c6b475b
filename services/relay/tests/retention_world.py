"""Streams whose events are published, somebody who prunes them, and everyone who was promised that they stay."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import psycopg
from assay_cli.stack.databases import Database
from assay_relay.api import history, retention
from assay_relay.api.retention import Lease, Registration, Stand
from assay_relay.floors import Pruner
from assay_relay.partitions import Dropper
from assay_relay.store.pruning import PruneStore
from assay_resolver.streams import Stream, running_digest
from assay_runtime.postgres import AsyncPool, open_async_pool
from psycopg.rows import TupleRow
from pydantic import SecretStr

from .world import Outbox

WIDTH = 1_000_000
"""Ids in a partition of the outbox."""


@dataclass
class Retention:
    """One resolver database under retention; `promised`: below which nothing of a stream may go, by who was told so."""

    database: Database
    outbox: Outbox
    pool: AsyncPool
    store: PruneStore
    promised: dict[tuple[str, Stream], int] = field(default_factory=dict[tuple[str, Stream], int])

    def pruner(self, kind: type[Pruner] = Pruner, store: PruneStore | None = None, age_seconds: float = 0.0) -> Pruner:
        """Somebody who prunes what is older than that."""
        return kind(store or self.store, age_seconds, 10_000)

    def dropper(self, keep_rows: int = 100, lock_milliseconds: int = 500) -> Dropper:
        """Somebody who frees the disk."""
        return Dropper(self.store, keep_rows, lock_milliseconds)

    def stream(self, tenant: str = "ten_a", catalog: str = "cat_a") -> Stream:
        """A stream with nothing in it."""
        return self.outbox.stream(tenant, catalog)

    def grow(self, stream: Stream, count: int, *, published: bool = True) -> int:
        """Append events as a decision does, the digest included, and let the relay have sent them; the new head."""
        self.outbox.add(stream, count)
        key = [stream.tenant_id, stream.catalog_id, stream.history_epoch]
        head, digest = self._row(
            "SELECT position, digest FROM cursor WHERE (tenant_id, catalog_id, history_epoch) = (%s, %s, %s)", key
        )
        rows = self.outbox.connection.execute(
            "SELECT position, event_id, value FROM outbox WHERE (tenant_id, catalog_id, history_epoch) = (%s, %s, %s)"
            " AND position > %s ORDER BY position",
            [*key, head - count],
        )
        for position, event_id, value in rows:
            digest = running_digest(digest, position, event_id, value)
        self.outbox.connection.execute(
            "UPDATE cursor SET digest = %s WHERE (tenant_id, catalog_id, history_epoch) = (%s, %s, %s)", [digest, *key]
        )
        if published:
            self.publish(stream, head)
        return int(head)

    def publish(self, stream: Stream, position: int) -> None:
        """Mark as the relay does."""
        self.outbox.connection.execute(
            "INSERT INTO relay_stream (tenant_id, catalog_id, history_epoch, bucket, published)"
            " VALUES (%s, %s, %s, 0, %s)"
            " ON CONFLICT (tenant_id, catalog_id, history_epoch) DO UPDATE SET published = EXCLUDED.published",
            [stream.tenant_id, stream.catalog_id, stream.history_epoch, position],
        )

    def next_partition(self) -> None:
        """Let the next event lie in the next partition."""
        last = self.outbox.number("SELECT last_value FROM outbox_id_seq")
        slot = last // WIDTH + 1
        self.outbox.number("SELECT setval('outbox_id_seq', %s, false)", slot * WIDTH + 1)
        self.outbox.number("SELECT outbox_add_partitions(1)")

    def partitions(self) -> list[str]:
        """The tables that hold the outbox now."""
        return [partition.table for partition in self.store.list_partitions()]

    def floor(self, stream: Stream) -> int:
        """Up to where a stream is gone."""
        rows = self.outbox.connection.execute(
            "SELECT pruned_through FROM stream_floor WHERE (tenant_id, catalog_id, history_epoch) = (%s, %s, %s)",
            [stream.tenant_id, stream.catalog_id, stream.history_epoch],
        ).fetchall()
        return int(rows[0][0]) if rows else 0

    async def register(self, name: str, kind: str = "live") -> int:
        """A consumer of every stream; the highest floor that it was told."""
        assert kind in ("live", "shadow")
        found = await retention.register(
            self.pool, Registration(name, "live" if kind == "live" else "shadow", None), "t"
        )
        floors = dict(found.floors)
        if kind == "live" and found.is_new:
            for stream in self._streams():
                self.promised[name, stream] = floors.get(stream, 0)
        return max(floors.values(), default=0)

    async def report(self, name: str, stream: Stream, position: int) -> Stand:
        """Progress of one consumer in one stream."""
        (stand,) = await retention.report(self.pool, name, [(stream, position)])
        if stand.outcome == "moved":
            self.promised[name, stream] = position
        return stand

    async def lease(self, stream: Stream, seconds: float = 60.0, position: int | None = None) -> Lease:
        """Pin a stream."""
        lease = await retention.create_lease(self.pool, stream, position, "test", "t", seconds)
        self.promised[lease.lease_id, stream] = lease.position
        return lease

    async def move(self, lease: Lease, position: int, seconds: float = 60.0) -> Lease:
        """Renew and move."""
        moved = await retention.move_lease(self.pool, lease.stream.tenant_id, lease.lease_id, position, seconds)
        self.promised[lease.lease_id, lease.stream] = moved.position
        return moved

    async def release(self, lease: Lease) -> None:
        """Give back."""
        self.forget(lease.lease_id)
        await retention.release_lease(self.pool, lease.stream.tenant_id, lease.lease_id)

    async def unregister(self, name: str) -> None:
        """Remove by name."""
        self.forget(name)
        await retention.unregister(self.pool, name, "t", "the test is over")

    def forget(self, name: str) -> None:
        """Nothing is promised to this one any more."""
        for key in [key for key in self.promised if key[0] == name]:
            del self.promised[key]

    async def holes(self, *read: Stream) -> list[str]:
        """Promises that were broken, by the floors and, for the streams to `read`, by what history serves."""
        rows = self.outbox.connection.execute(
            "SELECT tenant_id, catalog_id, history_epoch, pruned_through FROM stream_floor"
        )
        floors = {Stream(*row[:3]): int(row[3]) for row in rows}
        found: list[str] = []
        for (name, stream), position in list(self.promised.items()):
            if floors.get(stream, 0) > position:
                found.append(f"{name} {stream.catalog_id} {position}: floor {floors[stream]}")
            elif stream in read and not await self._is_whole(stream, position):
                found.append(f"{name} {stream.catalog_id} {position}: a hole")
        return found

    async def _is_whole(self, stream: Stream, after: int) -> bool:
        head = self.outbox.number(
            "SELECT position FROM cursor WHERE (tenant_id, catalog_id, history_epoch) = (%s, %s, %s)",
            *(stream.tenant_id, stream.catalog_id, stream.history_epoch),
        )
        return await self.read(stream, after) == list(range(after + 1, head + 1))

    async def read(self, stream: Stream, after: int) -> list[int]:
        """The positions that history serves behind one, to the stream's end."""
        positions: list[int] = []
        while True:
            page = await history.read_page(self.pool, stream, after, 1_000)
            positions += [event.position for event in page.events]
            if not page.events or positions[-1] == page.state.head:
                return positions
            after = positions[-1]

    async def prune(self, pruner: Pruner | None = None) -> int:
        """One round, in a thread of its own."""
        return await asyncio.to_thread((pruner or self.pruner()).prune)

    def _streams(self) -> list[Stream]:
        rows = self.outbox.connection.execute("SELECT tenant_id, catalog_id, history_epoch FROM cursor")
        return [Stream(*row) for row in rows]

    def _row(self, statement: str, parameters: list[object] | list[str]) -> TupleRow:
        row = self.outbox.connection.execute(statement.encode(), parameters).fetchone()
        assert row is not None
        return row


@asynccontextmanager
async def under_retention(database: Database) -> AsyncGenerator[Retention]:
    """Open everything and close it again."""
    outbox = Outbox(database.admin_dsn)
    store = PruneStore(SecretStr(database.dsn("assay_relay_prune")))
    pool = await open_async_pool(SecretStr(database.dsn("assay_relay_api")), 1, 6, "test")
    try:
        async with pool:
            yield Retention(database, outbox, pool, store)
    finally:
        store.close()
        outbox.connection.close()


def admin(database: Database) -> psycopg.Connection[TupleRow]:
    """Another session past all row level security."""
    return psycopg.connect(database.admin_dsn, autocommit=True)
