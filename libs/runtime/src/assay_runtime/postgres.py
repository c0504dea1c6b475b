"""Connections to Postgres that come back after an outage, and the three questions a loop asks of a failed statement."""

from typing import TypeAlias

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolClosed, PoolTimeout, TooManyRequests
from pydantic import SecretStr

AsyncPool: TypeAlias = AsyncConnectionPool[AsyncConnection[TupleRow]]
SyncPool: TypeAlias = ConnectionPool[Connection[TupleRow]]

ACQUIRE_SECONDS = 5.0
"""How long a caller waits for a connection before the outage is its caller's business."""

_OUTAGE_CLASSES = ("08", "53", "58")
"""SQLSTATE classes: connection exceptions, insufficient resources (disk full, too many connections), system errors."""
_OUTAGE_STATES = frozenset({"57P01", "57P02", "57P03", "57P05", "25006"})
"""Shut down by an administrator, crashed, starting up, idle session ended, read-only (a standby or a full disk)."""
_CONFLICT_STATES = frozenset({"40001", "40P01"})


async def open_async_pool(dsn: SecretStr, min_size: int, max_size: int, application_name: str) -> AsyncPool:
    """Open a pool without waiting for the server: `async with await open_async_pool(…) as pool`.

    A broken connection is replaced before anyone gets it. While the server is away, `pool.connection()` raises
    PoolTimeout after ACQUIRE_SECONDS. Session time zone is UTC.
    """
    pool: AsyncPool = AsyncConnectionPool(
        dsn.get_secret_value(),
        min_size=min_size,
        max_size=max_size,
        timeout=ACQUIRE_SECONDS,
        kwargs=session_arguments(dsn, application_name),
        check=AsyncConnectionPool.check_connection,
        name=application_name,
        open=False,
    )
    await pool.open()
    return pool


def open_sync_pool(dsn: SecretStr, min_size: int, max_size: int, application_name: str) -> SyncPool:
    """The same for threads: `with open_sync_pool(…) as pool`."""
    pool: SyncPool = ConnectionPool(
        dsn.get_secret_value(),
        min_size=min_size,
        max_size=max_size,
        timeout=ACQUIRE_SECONDS,
        kwargs=session_arguments(dsn, application_name),
        check=ConnectionPool.check_connection,
        name=application_name,
        open=False,
    )
    pool.open()
    return pool


def session_arguments(dsn: SecretStr, application_name: str) -> dict[str, str | int]:
    """What every connection has: a name, UTC, and sockets that notice within 15 s that the other end died."""
    options = str(conninfo_to_dict(dsn.get_secret_value()).get("options") or "")
    return {
        "application_name": application_name,
        "options": f"{options} -c TimeZone=UTC".strip(),
        "connect_timeout": 5,
        "keepalives_idle": 5,
        "keepalives_interval": 3,
        "keepalives_count": 3,
        "tcp_user_timeout": 15_000,
    }


def is_outage(error: BaseException) -> bool:
    """Whether the database, not the statement, is to blame: hold and repeat, burn no attempt.

    A statement that ran into its own time limit, a lock it did not get, and a conflict are not outages.
    """
    if isinstance(error, PoolTimeout | PoolClosed | TooManyRequests | psycopg.InterfaceError):
        return True
    if not isinstance(error, psycopg.Error):
        return False
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError)
    return error.sqlstate in _OUTAGE_STATES or error.sqlstate[:2] in _OUTAGE_CLASSES


def is_conflict(error: BaseException) -> bool:
    """Whether two transactions got in each other's way (serialization, deadlock): repeat the whole transaction."""
    return isinstance(error, psycopg.Error) and error.sqlstate in _CONFLICT_STATES


def constraint_of(error: BaseException) -> str | None:
    """The name of the constraint that refused the row, for the one place that maps names to errors."""
    return error.diag.constraint_name if isinstance(error, psycopg.Error) else None


_SET_TENANT = "SELECT set_config('assay.tenant_id', %s, true)"


async def set_tenant(connection: AsyncConnection[TupleRow], tenant_id: str) -> None:
    """Show this tenant's rows, and no others, to the rest of the transaction; outside of one it does nothing."""
    await connection.execute(_SET_TENANT, [tenant_id])


def set_tenant_sync(connection: Connection[TupleRow], tenant_id: str) -> None:
    """The same for threads."""
    connection.execute(_SET_TENANT, [tenant_id])
