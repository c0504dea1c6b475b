"""Brings a database to the state its code needs: numbered SQL files, each applied once, in order, and never altered."""

import hashlib
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import LiteralString, cast

import psycopg
from psycopg.rows import TupleRow
from pydantic import SecretStr

from assay_runtime.errors import InvalidSqlFile, MigrationAltered, MigrationsMissing

_FILE_NAME = re.compile(r"(?P<number>\d{4})_[a-z0-9]+(_[a-z0-9]+)+\.(pre|post)\.sql")
_ADVISORY_KEY = int.from_bytes(b"assaymig")
_LEDGER: LiteralString = """
CREATE TABLE IF NOT EXISTS schema_migration (
    source     text        NOT NULL,
    name       text        NOT NULL,
    sha256     bytea       NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (source, name)
);
GRANT SELECT ON schema_migration TO PUBLIC
"""
_LIMITS: LiteralString = "SET LOCAL lock_timeout = '5s'; SET LOCAL statement_timeout = '5min'"


@dataclass(frozen=True)
class Migration:
    """One file: `NNNN_verb_noun.pre.sql` is safe under the old code, `.post.sql` only after it is gone."""

    name: str
    text: str

    @property
    def sha256(self) -> bytes:
        """Digest of the file's text, kept with its name so that a later edit is seen."""
        return hashlib.sha256(self.text.encode()).digest()


def migrate(dsn: SecretStr | str, source: str | Path) -> list[str]:
    """Apply what is missing and return its names; several callers at once wait for each other.

    `source` is a package, whose folder `migrations` is read, or a folder. Each file is one transaction. Raises
    MigrationAltered before anything is applied.
    """
    migrations = read(source)
    with _connected(dsn) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [_ADVISORY_KEY])
        connection.execute(_LEDGER)
        missing = _missing(migrations, _applied(connection, source))
        for migration in missing:
            _apply(connection, source, migration)
    return [migration.name for migration in missing]


def pending(dsn: SecretStr | str, source: str | Path) -> list[str]:
    """Names of the files that this database lacks; any role may ask. Later files than ours are none of our business."""
    with _connected(dsn) as connection:
        return [migration.name for migration in _missing(read(source), _applied(connection, source))]


def require(dsn: SecretStr | str, source: str | Path) -> None:
    """Raise MigrationsMissing, naming the files, unless the database has everything this code needs."""
    missing = pending(dsn, source)
    if missing:
        raise MigrationsMissing(f"{_label(source)} lacks {', '.join(missing)}")


def read(source: str | Path) -> list[Migration]:
    """The files in the order of their numbers, which are unique."""
    folder: Traversable = source if isinstance(source, Path) else files(source) / "migrations"
    migrations = [_read_file(file) for file in folder.iterdir() if file.name.endswith(".sql")]
    migrations.sort(key=lambda migration: migration.name)
    numbers = [migration.name[:4] for migration in migrations]
    if len(set(numbers)) != len(numbers):
        raise InvalidSqlFile(f"{_label(source)}: two migrations have one number")
    return migrations


def _read_file(file: Traversable) -> Migration:
    if not _FILE_NAME.fullmatch(file.name):
        raise InvalidSqlFile(f"{file.name} is not of the form NNNN_verb_noun.pre.sql or .post.sql")
    return Migration(file.name, file.read_text(encoding="utf-8"))


def _label(source: str | Path) -> str:
    return source.name if isinstance(source, Path) else source


@contextmanager
def _connected(dsn: SecretStr | str) -> Generator[psycopg.Connection[TupleRow]]:
    text = dsn if isinstance(dsn, str) else dsn.get_secret_value()
    with psycopg.connect(text, autocommit=True, connect_timeout=5, application_name="assay migrations") as connection:
        yield connection


def _applied(connection: psycopg.Connection[TupleRow], source: str | Path) -> dict[str, bytes]:
    known = connection.execute("SELECT to_regclass('schema_migration') IS NOT NULL").fetchone()
    if known is None or not known[0]:
        return {}
    rows = connection.execute("SELECT name, sha256 FROM schema_migration WHERE source = %s", [_label(source)])
    return {str(name): bytes(sha256) for name, sha256 in rows}


def _missing(migrations: list[Migration], applied: Mapping[str, bytes]) -> list[Migration]:
    for migration in migrations:
        if applied.get(migration.name, migration.sha256) != migration.sha256:
            raise MigrationAltered(migration.name)
    return [migration for migration in migrations if migration.name not in applied]


def _apply(connection: psycopg.Connection[TupleRow], source: str | Path, migration: Migration) -> None:
    with connection.transaction():
        connection.execute(_LIMITS)
        connection.execute(cast("LiteralString", migration.text))
        connection.execute(
            "INSERT INTO schema_migration (source, name, sha256) VALUES (%s, %s, %s)",
            [_label(source), migration.name, migration.sha256],
        )
