"""Every statement that the resolver's API runs by itself, and the transactions in which it asks and decides."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from assay_contracts.ids import TenantId
from assay_resolver.epochs import open_epoch
from assay_resolver.streams import Connection, Stream
from assay_runtime.http import StoredKey
from assay_runtime.postgres import AsyncPool, set_tenant
from assay_runtime.sql import load
from psycopg.rows import class_row

from assay_resolver_api.errors import NoOpenHistory, NotFound

_API_KEY = load("assay_resolver_api", "api_key")
_CATALOG = load("assay_resolver_api", "catalog")
_DEAD_LETTER = load("assay_resolver_api", "dead_letter")


@dataclass(frozen=True, slots=True)
class LetterId:
    """Where a dead letter came from, which names it."""

    topic_id: UUID
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class LetterRow:
    """A message that was given up on; `published_at` says when it was copied to its dead-letter topic."""

    topic_id: UUID
    partition: int
    offset: int
    topic: str
    job_id: str | None
    stage: str | None
    reason: str
    cause: str
    size_bytes: int | None
    created_at: datetime
    published_at: datetime | None


async def find_key(pool: AsyncPool, key_id: str) -> StoredKey | None:
    """What is stored of an API key; needs no tenant."""
    async with pool.connection() as connection:
        row = await (await connection.execute(_API_KEY["find_key"], {"key_id": key_id})).fetchone()
    return None if row is None else StoredKey(row[0], row[1], frozenset(row[2]), row[3])


@asynccontextmanager
async def reading(pool: AsyncPool, tenant_id: TenantId) -> AsyncGenerator[Connection]:
    """A transaction that sees one moment of the tenant's rows and changes none."""
    async with pool.connection() as connection:
        await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        await set_tenant(connection, tenant_id)
        yield connection


@asynccontextmanager
async def deciding(pool: AsyncPool, tenant_id: TenantId, catalog_id: str) -> AsyncGenerator[tuple[Connection, Stream]]:
    """A transaction in which the tenant's catalog may change; it commits when the block ends without an error."""
    async with pool.connection() as connection:
        await set_tenant(connection, tenant_id)
        yield connection, await stream_of(connection, tenant_id, catalog_id)


async def stream_of(connection: Connection, tenant_id: TenantId, catalog_id: str) -> Stream:
    """The stream of the tenant's catalog in the open history; NotFound if there is no such catalog."""
    parameters = {"tenant_id": tenant_id, "catalog_id": catalog_id}
    if await (await connection.execute(_CATALOG["find_catalog"], parameters)).fetchone() is None:
        raise NotFound
    epoch = await open_epoch(connection)
    if epoch is None:
        raise NoOpenHistory
    return Stream(tenant_id, catalog_id, epoch.name)


async def list_letters(
    connection: Connection, tenant_id: TenantId, after: LetterId | None, limit: int
) -> list[LetterRow]:
    """A page of the tenant's dead letters, newest first."""
    async with connection.cursor(row_factory=class_row(LetterRow)) as cursor:
        await cursor.execute(
            _DEAD_LETTER["list_letters"],
            {
                "tenant_id": tenant_id,
                "topic_id": after and after.topic_id,
                "partition": after and after.partition,
                "offset": after and after.offset,
                "limit": limit,
            },
        )
        return await cursor.fetchall()
