"""The registry of history epochs: which incarnations of this history exist, and which one is open."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from assay_runtime.sql import load
from psycopg import AsyncConnection
from psycopg.rows import TupleRow, class_row

EpochState = Literal["open", "closed"]

_SQL = load("assay_resolver", "history_epoch")


@dataclass(frozen=True, slots=True)
class Epoch:
    """One incarnation; a higher ordinal is a later one."""

    ordinal: int
    name: str
    state: EpochState


async def registry(conn: AsyncConnection[TupleRow]) -> Mapping[str, Epoch]:
    """Every epoch by its name."""
    async with conn.cursor(row_factory=class_row(Epoch)) as cursor:
        await cursor.execute(_SQL["list_epochs"])
        return {epoch.name: epoch for epoch in await cursor.fetchall()}


async def open_epoch(conn: AsyncConnection[TupleRow]) -> Epoch | None:
    """The epoch in which new work is minted; None only between a restore and its advance."""
    async with conn.cursor(row_factory=class_row(Epoch)) as cursor:
        await cursor.execute(_SQL["find_open"])
        return await cursor.fetchone()
