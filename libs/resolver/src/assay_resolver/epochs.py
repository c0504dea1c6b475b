"""The registry of history epochs: which incarnations of this history exist, which one is open, and how the next begins.

An advance has three steps, each of which may be repeated after a crash: `close`, after which nothing new takes effect,
and the wait until all who read otherwise are over (`barrier`, `is_past`); then the genesis snapshots, over facts that
stand still; then `open_next`, one transaction with the epoch, its streams at position 0, their snapshots, and all open
work minted anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from assay_runtime.sql import load
from psycopg import AsyncConnection, Connection
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


class Genesis(NamedTuple):
    """The snapshot with which a catalog begins in a new epoch."""

    tenant_id: str
    catalog_id: str
    sha256: str
    bytes: int
    facts: int


def list_epochs(conn: Connection[TupleRow]) -> list[Epoch]:
    """All, oldest first."""
    return [Epoch(*row) for row in conn.execute(_SQL["list_epochs"])]


def list_catalogs(conn: Connection[TupleRow]) -> list[tuple[str, str]]:
    """(tenant, catalog) of everything that has a history."""
    return [(str(tenant), str(catalog)) for tenant, catalog in conn.execute(_SQL["list_catalogs"])]


def close(conn: Connection[TupleRow]) -> None:
    """Close the open epoch, if one is open."""
    conn.execute(_SQL["close_open"])


def barrier(conn: Connection[TupleRow]) -> int:
    """To be taken once the close is committed; see `is_past`."""
    return _number(conn.execute(_SQL["take_transaction"]).fetchone())


def is_past(conn: Connection[TupleRow], taken: int) -> bool:
    """Whether everybody who could have read the closed epoch as open has ended."""
    return _number(conn.execute(_SQL["read_horizon"]).fetchone()) >= taken


def open_next(conn: Connection[TupleRow], ordinal: int, genesis: Sequence[Genesis], actor: str, because: str) -> Epoch:
    """Begin the next epoch in the caller's transaction."""
    epoch = Epoch(ordinal, f"history-{ordinal}", "open")
    conn.execute(_SQL["insert_open"], {"ordinal": ordinal, "name": epoch.name})
    for one in genesis:
        parameters = {**one._asdict(), "history_epoch": epoch.name}
        conn.execute(_SQL["begin_stream"], parameters)
        conn.execute(_SQL["insert_genesis"], parameters)
    conn.execute(_SQL["mint_jobs_anew"], {"name": epoch.name})
    conn.execute(_SQL["note_advance"], {"actor": actor, "name": epoch.name, "because": because})
    return epoch


def _number(row: TupleRow | None) -> int:
    return 0 if row is None else int(row[0])
