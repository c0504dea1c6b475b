"""What a loop learns from a failed statement, and pools that outlive their connections; on a real server."""

from collections.abc import Callable

import psycopg
import pytest
from assay_cli.stack.databases import Database
from assay_runtime import postgres
from assay_runtime.postgres import (
    constraint_of,
    is_conflict,
    is_outage,
    open_async_pool,
    open_sync_pool,
    set_tenant,
    set_tenant_sync,
)
from psycopg.conninfo import make_conninfo
from psycopg_pool import PoolTimeout
from pydantic import SecretStr

NOWHERE = SecretStr("postgresql://nobody@127.0.0.1:1/nothing")


def terminate_everyone_else(database: Database) -> None:
    with psycopg.connect(database.admin_dsn, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def failure_of(act: Callable[[], object]) -> psycopg.Error:
    with pytest.raises(psycopg.Error) as caught:
        act()
    return caught.value


def failing_statement(database: Database, *statements: str) -> psycopg.Error:
    with psycopg.connect(database.admin_dsn, autocommit=True) as connection:
        return failure_of(lambda: [connection.execute(statement.encode()) for statement in statements])


def test_a_refused_connection_is_an_outage() -> None:
    assert is_outage(failure_of(lambda: psycopg.connect(NOWHERE.get_secret_value())))


def test_a_connection_ended_by_an_administrator_is_an_outage_now_and_later(empty_db: Database) -> None:
    with psycopg.connect(empty_db.admin_dsn, autocommit=True) as connection:
        terminate_everyone_else(empty_db)
        first = failure_of(lambda: connection.execute("SELECT 1"))
        second = failure_of(lambda: connection.execute("SELECT 1"))
    assert first.sqlstate == "57P01"
    assert is_outage(first)
    assert is_outage(second)


def test_too_many_connections_are_an_outage(empty_db: Database) -> None:
    with psycopg.connect(empty_db.admin_dsn, autocommit=True) as admin:
        admin.execute(f'ALTER DATABASE "{empty_db.name}" CONNECTION LIMIT 0'.encode())
    error = failure_of(lambda: psycopg.connect(empty_db.dsn("assay_migrator")))
    assert is_outage(error)


def test_a_read_only_server_is_an_outage(empty_db: Database) -> None:
    error = failing_statement(empty_db, "SET default_transaction_read_only = on", "CREATE TABLE t ()")
    assert (error.sqlstate, is_outage(error)) == ("25006", True)


@pytest.mark.parametrize(
    ("statements", "sqlstate"),
    [
        (("SET statement_timeout = '10ms'", "SELECT pg_sleep(60)"), "57014"),
        (("SELECT 1/0",), "22012"),
        (("SELECT nothing",), "42703"),
        (("SET transaction_timeout = '10ms'", "SELECT pg_sleep(60)"), "25P04"),
    ],
)
def test_a_statement_that_fails_by_itself_is_no_outage(
    empty_db: Database, statements: tuple[str, ...], sqlstate: str
) -> None:
    error = failing_statement(empty_db, *statements)
    assert (error.sqlstate, is_outage(error), is_conflict(error)) == (sqlstate, False, False)


def test_a_serialization_failure_is_a_conflict(empty_db: Database) -> None:
    with psycopg.connect(empty_db.admin_dsn) as one, psycopg.connect(empty_db.admin_dsn, autocommit=True) as other:
        other.execute("CREATE TABLE t (n int); INSERT INTO t VALUES (1)")
        one.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        one.execute("SELECT * FROM t")
        other.execute("UPDATE t SET n = 2")
        error = failure_of(lambda: one.execute("UPDATE t SET n = 3"))
    assert (is_conflict(error), is_outage(error)) == (True, False)


def test_a_refused_row_names_its_constraint(empty_db: Database) -> None:
    error = failing_statement(
        empty_db, "CREATE TABLE t (n int CONSTRAINT t_is_positive CHECK (n > 0))", "INSERT INTO t VALUES (0)"
    )
    assert constraint_of(error) == "t_is_positive"
    assert constraint_of(ValueError()) is None


async def test_an_async_pool_never_hands_out_a_dead_connection(empty_db: Database) -> None:
    async with await open_async_pool(SecretStr(empty_db.admin_dsn), 2, 2, "assay test") as pool:
        await pool.wait()
        terminate_everyone_else(empty_db)
        for _ in range(3):
            async with pool.connection() as connection:
                row = await (await connection.execute("SELECT current_setting('application_name')")).fetchone()
                assert row == ("assay test",)


def test_a_sync_pool_never_hands_out_a_dead_connection(empty_db: Database) -> None:
    with open_sync_pool(SecretStr(empty_db.admin_dsn), 2, 2, "assay test") as pool:
        pool.wait()
        terminate_everyone_else(empty_db)
        for _ in range(3):
            with pool.connection() as connection:
                assert connection.execute("SELECT current_setting('TimeZone')").fetchone() == ("UTC",)


async def test_a_pool_opens_while_the_server_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "ACQUIRE_SECONDS", 0.05)
    async with await open_async_pool(NOWHERE, 1, 1, "assay test") as pool:
        with pytest.raises(PoolTimeout) as caught:
            async with pool.connection():
                raise AssertionError("there is no server")
    assert is_outage(caught.value)


def test_session_options_of_the_dsn_are_kept(empty_db: Database) -> None:
    dsn = SecretStr(make_conninfo(empty_db.admin_dsn, options="-c work_mem=1234kB"))
    with open_sync_pool(dsn, 1, 1, "assay test") as pool, pool.connection() as connection:
        found = connection.execute("SELECT current_setting('work_mem'), current_setting('TimeZone')").fetchone()
    assert found == ("1234kB", "UTC")


async def test_a_tenant_is_set_for_one_transaction(empty_db: Database) -> None:
    read = "SELECT nullif(current_setting('assay.tenant_id', true), '')"
    async with await psycopg.AsyncConnection.connect(empty_db.admin_dsn, autocommit=True) as connection:
        async with connection.transaction():
            await set_tenant(connection, "ten_a")
            assert await (await connection.execute(read)).fetchone() == ("ten_a",)
        assert await (await connection.execute(read)).fetchone() == (None,)


def test_a_tenant_is_set_for_one_transaction_in_threads(empty_db: Database) -> None:
    read = "SELECT nullif(current_setting('assay.tenant_id', true), '')"
    with psycopg.connect(empty_db.admin_dsn, autocommit=True) as connection:
        with connection.transaction():
            set_tenant_sync(connection, "ten_a")
            assert connection.execute(read).fetchone() == ("ten_a",)
        assert connection.execute(read).fetchone() == (None,)
