"""The SQL of consumers, progress and leases, each in its caller's transaction, which shows one tenant."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple

from assay_contracts.ids import TenantId
from assay_resolver.streams import Connection, Stream
from assay_runtime.http import StoredKey
from assay_runtime.postgres import AsyncPool
from assay_runtime.sql import load
from psycopg.rows import class_row

_SQL = load("assay_relay", "retention")
_KEY = load("assay_relay", "key")

EVERY_TENANT: Final = TenantId("*")
"""The tenant of a service's credential. No tenant has this name, so a transaction that is set to it sees nothing."""

ConsumerKind = Literal["live", "shadow"]


class StreamState(NamedTuple):
    """Where a stream ends, how far it is published, and what of it is gone, with the running digests of both ends."""

    head: int
    digest: bytes
    published: int
    floor: int
    floor_digest: bytes
    epoch_state: str


class ConsumerRow(NamedTuple):
    """A consumer as it was registered; catalogs are `tenant/catalog`."""

    kind: ConsumerKind
    every_stream: bool
    registered_by: str
    catalogs: Sequence[str]


class ListedConsumer(NamedTuple):
    """A consumer and how long ago it spoke last."""

    name: str
    kind: str
    every_stream: bool
    registered_at: datetime
    registered_by: str
    reported_at: datetime | None
    silent_seconds: float


class Keeper(NamedTuple):
    """A consumer or a lease of a stream; `holds`: pruning may not pass its position."""

    type: str
    name: str
    kind: str
    position: int
    has_spoken: bool
    seen_at: datetime | None
    until: datetime | None
    holds: bool


class LeaseRow(NamedTuple):
    """A lease; `holds` as of the moment of the question."""

    lease_id: str
    tenant_id: str
    catalog_id: str
    history_epoch: str
    position: int
    purpose: str
    held_by: str
    expires_at: datetime
    holds: bool

    @property
    def stream(self) -> Stream:
        """What it pins."""
        return Stream(self.tenant_id, self.catalog_id, self.history_epoch)


async def find_key(pool: AsyncPool, key_id: str) -> StoredKey | None:
    """What is stored of a tenant's key, or of a service's, which speaks of every tenant."""
    async with pool.connection() as connection:
        row = await (await connection.execute(_KEY["find_key"], {"key_id": key_id})).fetchone()
        if row is not None:
            return StoredKey(row[0], row[1], frozenset(row[2]), row[3])
        row = await (await connection.execute(_KEY["find_service_key"], {"key_id": key_id})).fetchone()
    return None if row is None else StoredKey(EVERY_TENANT, row[0], frozenset(row[1]), row[2])


async def take_control(conn: Connection) -> None:
    """Become the only one who decides about retention; whatever is read to decide by is read after this."""
    await conn.execute(_SQL["take_control"])


async def find_stream(conn: Connection, stream: Stream) -> StreamState | None:
    """The ends of a stream; None if there is none of this name, or none that this transaction may see."""
    row = await (await conn.execute(_SQL["find_stream"], _key(stream))).fetchone()
    return None if row is None else StreamState(*row)


async def find_consumer(conn: Connection, name: str) -> ConsumerRow | None:
    """A consumer by its name."""
    row = await (await conn.execute(_SQL["find_consumer"], {"name": name})).fetchone()
    return None if row is None else ConsumerRow(*row)


async def has_catalog(conn: Connection, tenant_id: str, catalog_id: str) -> bool:
    """Whether the tenant that this transaction shows has such a catalog."""
    row = await (
        await conn.execute(_SQL["find_catalog"], {"tenant_id": tenant_id, "catalog_id": catalog_id})
    ).fetchone()
    return row is not None


async def insert_consumer(conn: Connection, name: str, kind: ConsumerKind, by: str, *, every_stream: bool) -> None:
    """Register one; its catalogs are added by `insert_consumer_catalog`."""
    parameters = {"name": name, "kind": kind, "every_stream": every_stream, "registered_by": by}
    await conn.execute(_SQL["insert_consumer"], parameters)


async def insert_consumer_catalog(conn: Connection, name: str, tenant_id: str, catalog_id: str) -> None:
    """Let a consumer read a catalog of the tenant that this transaction shows."""
    parameters = {"name": name, "tenant_id": tenant_id, "catalog_id": catalog_id}
    await conn.execute(_SQL["insert_consumer_catalog"], parameters)


async def delete_consumer(conn: Connection, name: str) -> None:
    """Forget a consumer with its progress."""
    await conn.execute(_SQL["delete_consumer"], {"name": name})


async def insert_act(conn: Connection, actor: str, act: str, subject: str, because: str) -> None:
    """Keep for ever who did what, and why."""
    await conn.execute(_SQL["insert_act"], {"actor": actor, "act": act, "subject": subject, "because": because})


async def list_raised_floors(conn: Connection) -> list[tuple[Stream, int]]:
    """Every stream of which something is gone, and up to where."""
    rows = await conn.execute(_SQL["list_raised_floors"])
    return [(Stream(*row[:3]), int(row[3])) for row in await rows.fetchall()]


async def list_consumers(conn: Connection) -> list[ListedConsumer]:
    """All of them, the longest silent first."""
    return [ListedConsumer(*row) for row in await (await conn.execute(_SQL["list_consumers"])).fetchall()]


async def move_progress(conn: Connection, name: str, stream: Stream, position: int) -> None:
    """Forward only."""
    await conn.execute(_SQL["move_progress"], {**_key(stream), "name": name, "position": position})


async def find_progress(conn: Connection, name: str, stream: Stream) -> int | None:
    """How far a consumer has said that it has come in a stream; None if it has not spoken of it."""
    row = await (await conn.execute(_SQL["find_progress"], {**_key(stream), "name": name})).fetchone()
    return None if row is None else int(row[0])


async def note_report(conn: Connection, name: str) -> None:
    """The consumer has spoken now."""
    await conn.execute(_SQL["note_report"], {"name": name})


async def insert_lease(
    conn: Connection, lease_id: str, stream: Stream, position: int, purpose: str, held_by: str, seconds: float
) -> datetime:
    """Pin everything above a position for so long from now; when it ends."""
    parameters = {
        **_key(stream),
        "lease_id": lease_id,
        "position": position,
        "purpose": purpose,
        "held_by": held_by,
        "seconds": seconds,
    }
    row = await (await conn.execute(_SQL["insert_lease"], parameters)).fetchone()
    assert row is not None, "an insert returns its row"
    return row[0]


async def find_lease(conn: Connection, lease_id: str) -> LeaseRow | None:
    """A lease of the tenant that this transaction shows."""
    row = await (await conn.execute(_SQL["find_lease"], {"lease_id": lease_id})).fetchone()
    return None if row is None else LeaseRow(*row)


async def move_lease(conn: Connection, lease_id: str, position: int, seconds: float) -> tuple[int, datetime] | None:
    """Renew, and move forward if the position is higher; None if the lease has expired."""
    parameters = {"lease_id": lease_id, "position": position, "seconds": seconds}
    row = await (await conn.execute(_SQL["move_lease"], parameters)).fetchone()
    return None if row is None else (int(row[0]), row[1])


async def delete_lease(conn: Connection, lease_id: str) -> None:
    """Give it back."""
    await conn.execute(_SQL["delete_lease"], {"lease_id": lease_id})


async def release_stream(conn: Connection, stream: Stream, actor: str) -> None:
    """No consumer needs this stream any more."""
    await conn.execute(_SQL["release_stream"], {**_key(stream), "actor": actor})


async def find_release(conn: Connection, stream: Stream) -> str | None:
    """Who said so, if somebody did."""
    row = await (await conn.execute(_SQL["find_release"], _key(stream))).fetchone()
    return None if row is None else row[0]


async def list_keepers(conn: Connection, stream: Stream) -> list[Keeper]:
    """Everybody who reads or pins a stream, lowest position first."""
    async with conn.cursor(row_factory=class_row(Keeper)) as cursor:
        await cursor.execute(_SQL["list_keepers"], _key(stream))
        return await cursor.fetchall()


async def list_streams(conn: Connection, tenant_id: str, after: Stream, limit: int) -> list[Stream]:
    """A page of stream names: of one tenant, or of all for a service."""
    statement = "list_every_stream" if tenant_id == EVERY_TENANT else "list_streams"
    parameters = {
        "tenant_id": tenant_id,
        "after_tenant": after.tenant_id,
        "after_catalog": after.catalog_id,
        "after_epoch": after.history_epoch,
        "limit": limit,
    }
    return [Stream(*row) for row in await (await conn.execute(_SQL[statement], parameters)).fetchall()]


def _key(stream: Stream) -> dict[str, object]:
    return {**stream.scope, "history_epoch": stream.history_epoch}
