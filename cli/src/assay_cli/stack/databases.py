"""The two databases of an installation: created, migrated by their owner, and opened to each role by password."""

from dataclasses import dataclass

import psycopg
from assay_runtime.migrations import migrate
from psycopg import sql
from psycopg.rows import TupleRow

from assay_cli.stack.credentials import Credentials
from assay_cli.stack.postgres import Postgres

MIGRATOR = "assay_migrator"
MIGRATIONS = {"resolver": "assay_resolver", "product": "assay_product"}
"""Which package's migrations make which database."""


@dataclass(frozen=True, slots=True)
class Database:
    """One database on one server, and how each role gets into it."""

    server: Postgres
    credentials: Credentials
    name: str

    def dsn(self, role: str) -> str:
        """The libpq URI for one role, such as `assay_intake`."""
        return self.server.dsn(self.name, role, self.credentials.of_role(role))

    @property
    def admin_dsn(self) -> str:
        """The administrator, whom no row level security binds: for tests and for looking."""
        return self.server.dsn(self.name)


def provision(server: Postgres, credentials: Credentials, kind: str, name: str | None = None) -> Database:
    """Create the database unless it is there, bring it to the state of the code, and give every role its login."""
    database = create(server, credentials, name or kind)
    migrate(database.dsn(MIGRATOR), MIGRATIONS[kind])
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        for role in _roles(connection):
            _give_login(connection, credentials, role)
    return database


def create(server: Postgres, credentials: Credentials, name: str) -> Database:
    """An empty database that belongs to the migrator, unless it is there."""
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        _create_migrator(connection)
        _give_login(connection, credentials, MIGRATOR)
        _create_database(connection, name)
    return Database(server, credentials, name)


def copy(database: Database, name: str) -> Database:
    """A new database with everything that this one holds; nobody may be connected to this one."""
    with psycopg.connect(database.server.dsn(), autocommit=True) as connection:
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER {}")
        names = (sql.Identifier(part) for part in (name, database.name, MIGRATOR))
        connection.execute(statement.format(*names))
    return Database(database.server, database.credentials, name)


def drop(database: Database) -> None:
    """Remove the database, ending whatever is still connected to it."""
    with psycopg.connect(database.server.dsn(), autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database.name)))


def open_epoch(resolver: Database) -> str:
    """The history epoch that new events belong to."""
    with psycopg.connect(resolver.admin_dsn) as connection:
        row = connection.execute("SELECT name FROM history_epoch WHERE state = 'open'").fetchone()
    if row is None:
        raise LookupError("no history epoch is open")
    return str(row[0])


def _roles(connection: psycopg.Connection[TupleRow]) -> list[str]:
    rows = connection.execute("SELECT rolname FROM pg_roles WHERE rolname LIKE 'assay\\_%' ORDER BY rolname")
    return [str(name) for (name,) in rows]


def _create_migrator(connection: psycopg.Connection[TupleRow]) -> None:
    if MIGRATOR not in _roles(connection):
        connection.execute(sql.SQL("CREATE ROLE {} CREATEROLE").format(sql.Identifier(MIGRATOR)))


def _give_login(connection: psycopg.Connection[TupleRow], credentials: Credentials, role: str) -> None:
    statement = sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}")
    connection.execute(statement.format(sql.Identifier(role), sql.Literal(credentials.of_role(role))))


def _create_database(connection: psycopg.Connection[TupleRow], name: str) -> None:
    found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
    if found is None:
        statement = sql.SQL("CREATE DATABASE {} OWNER {}")
        connection.execute(statement.format(sql.Identifier(name), sql.Identifier(MIGRATOR)))
