"""What the API reads: every answer comes from one snapshot of one tenant's live generation."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from assay_runtime import sql
from assay_runtime.http import StoredKey
from assay_runtime.postgres import AsyncPool, set_tenant
from psycopg import AsyncConnection
from psycopg.rows import TupleRow, class_row

from assay_product.errors import NotLive
from assay_product.page_cursors import Live

AsyncConn: TypeAlias = AsyncConnection[TupleRow]

WAITING_SHOWN = 10

_SQL = sql.load("assay_product", "reading")


@dataclass(frozen=True, slots=True)
class CatalogRow:
    """A catalog and what is live of it."""

    live: Live
    items: int


@dataclass(frozen=True, slots=True)
class ItemRead:
    """An item's row."""

    item_id: str
    state: str
    merged_into: str | None
    because: str | None
    revision: int
    decision_id: str
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class AttributeRead:
    """An attribute's row; value and evidence are JSON texts, null once it is cleared."""

    attribute_id: str
    owner_id: str
    name: str
    line: str
    value: str | None
    by: str | None
    evidence: str | None
    because: str | None
    revision: int
    decision_id: str
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class MappingRead:
    """The row of a mapping that is set."""

    listing_id: str
    item_id: str
    home_item_id: str
    source_id: str
    listing_key: str
    serial: int
    url: str | None
    group_key: str | None
    via: str
    score: str | None
    evidence: str
    revision: int
    decision_id: str
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class WaitingRead:
    """A parked position and what it waits for."""

    position: int
    reason: str
    waits_for_type: str | None
    waits_for_id: str | None
    waits_for_revision: int | None


@dataclass(frozen=True, slots=True)
class StatusRead:
    """A generation's progress."""

    progress: int
    highest: int
    processed: int
    halted: str | None
    moved_at: datetime
    parked: int
    parked_since: datetime | None


class Snapshot:
    """One catalog's live generation at one moment."""

    def __init__(self, conn: AsyncConn, live: Live) -> None:
        self._conn = conn
        self.live = live

    async def status(self) -> StatusRead:
        """How far it has come."""
        async with self._conn.cursor(row_factory=class_row(StatusRead)) as cursor:
            await cursor.execute(_SQL["read_status"], self._place())
            found = await cursor.fetchone()
        if found is None:
            raise NotLive
        return found

    async def waiting(self) -> list[WaitingRead]:
        """The first parked positions."""
        async with self._conn.cursor(row_factory=class_row(WaitingRead)) as cursor:
            await cursor.execute(_SQL["list_waiting"], {**self._place(), "limit": WAITING_SHOWN})
            return await cursor.fetchall()

    async def items(self, after: str, limit: int) -> list[ItemRead]:
        """Active items after this id."""
        return await self._items("list_items", {"after": after, "limit": limit})

    async def matching(self, words: Sequence[Sequence[str]], after: str, limit: int) -> list[ItemRead]:
        """Active items after this id in which each word matches by one of its patterns."""
        pairs = [(number, pattern) for number, word in enumerate(words) for pattern in word]
        parameters = {
            "word": [number for number, _ in pairs],
            "pattern": [pattern for _, pattern in pairs],
            "words": len(words),
        }
        return await self._items("search_items", {**parameters, "after": after, "limit": limit})

    async def root(self, item_id: str) -> ItemRead | None:
        """The item, or the one that it is merged into; None if there is none."""
        found = await self._items("find_root", {"item_id": item_id})
        return found[0] if found else None

    async def attributes(self, owner_ids: Iterable[str]) -> list[AttributeRead]:
        """The attributes of items and listings, with those that are cleared."""
        async with self._conn.cursor(row_factory=class_row(AttributeRead)) as cursor:
            await cursor.execute(_SQL["list_attributes"], {**self._place(), "owner_id": list(owner_ids)})
            return await cursor.fetchall()

    async def mappings(self, item_ids: Iterable[str]) -> list[MappingRead]:
        """The listings of items."""
        async with self._conn.cursor(row_factory=class_row(MappingRead)) as cursor:
            await cursor.execute(_SQL["list_mappings"], {**self._place(), "item_id": list(item_ids)})
            return await cursor.fetchall()

    async def _items(self, statement: str, parameters: dict[str, object]) -> list[ItemRead]:
        async with self._conn.cursor(row_factory=class_row(ItemRead)) as cursor:
            await cursor.execute(_SQL[statement], {**self._place(), **parameters})
            return await cursor.fetchall()

    def _place(self) -> dict[str, object]:
        return {"catalog_id": self.live.catalog_id, "generation": self.live.generation}


class Reader:
    """Opens snapshots for tenants."""

    def __init__(self, pool: AsyncPool) -> None:
        self._pool = pool

    async def find_key(self, key_id: str) -> StoredKey | None:
        """The key of this id, for the ring that checks it."""
        async with self._pool.connection() as conn:
            row = await (await conn.execute(_SQL["find_key"], {"key_id": key_id})).fetchone()
        return None if row is None else StoredKey(row[0], bytes(row[1]), frozenset(row[2]), row[3])

    async def catalogs(self, tenant_id: str) -> list[CatalogRow]:
        """The tenant's catalogs."""
        async with self._reading(tenant_id) as conn:
            rows = await (await conn.execute(_SQL["list_catalogs"])).fetchall()
        return [CatalogRow(Live(*live), items) for *live, items in rows]

    @asynccontextmanager
    async def snapshot(self, tenant_id: str, catalog_id: str) -> AsyncGenerator[Snapshot]:
        """The live generation of a tenant's catalog; NotLive if the tenant has none of this name."""
        async with self._reading(tenant_id) as conn:
            row = await (await conn.execute(_SQL["find_live"], {"catalog_id": catalog_id})).fetchone()
            if row is None:
                raise NotLive
            yield Snapshot(conn, Live(*row))

    @asynccontextmanager
    async def _reading(self, tenant_id: str) -> AsyncGenerator[AsyncConn]:
        async with self._pool.connection() as conn, conn.transaction():
            await conn.execute(_SQL["begin_reading"])
            await set_tenant(conn, tenant_id)
            yield conn
