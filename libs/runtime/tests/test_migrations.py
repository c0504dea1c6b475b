"""Migrations: once, in order, never altered, one migrator at a time; on a real server."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from assay_cli.stack.databases import Database
from assay_runtime.errors import InvalidSqlFile, MigrationAltered, MigrationsMissing
from assay_runtime.migrations import migrate, pending, read, require

FIRST = "0001_create_item.pre.sql"
SECOND = "0002_add_title.post.sql"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "catalog"
    folder.mkdir()
    (folder / FIRST).write_text("CREATE TABLE item (id int PRIMARY KEY);")
    (folder / SECOND).write_text("ALTER TABLE item ADD title text; ALTER TABLE item ALTER title SET DEFAULT '50%';")
    return folder


@pytest.fixture
def dsn(empty_db: Database) -> str:
    return empty_db.dsn("assay_migrator")


def test_files_are_applied_once_and_in_order(dsn: str, folder: Path) -> None:
    assert pending(dsn, folder) == [FIRST, SECOND]
    assert migrate(dsn, folder) == [FIRST, SECOND]
    assert migrate(dsn, folder) == []
    assert pending(dsn, folder) == []
    with psycopg.connect(dsn) as connection:
        assert connection.execute("INSERT INTO item VALUES (1) RETURNING title").fetchone() == ("50%",)


def test_a_service_says_what_its_database_lacks(dsn: str, folder: Path) -> None:
    with pytest.raises(MigrationsMissing, match=f"catalog lacks {FIRST}, {SECOND}"):
        require(dsn, folder)
    migrate(dsn, folder)
    require(dsn, folder)


def test_a_newer_database_is_fine_for_older_code(dsn: str, folder: Path) -> None:
    migrate(dsn, folder)
    (folder / SECOND).unlink()
    assert pending(dsn, folder) == []


def test_an_altered_file_is_refused_before_anything_is_applied(dsn: str, folder: Path) -> None:
    migrate(dsn, folder)
    (folder / FIRST).write_text("CREATE TABLE item (id bigint PRIMARY KEY);")
    (folder / "0003_create_other.pre.sql").write_text("CREATE TABLE other ();")
    with pytest.raises(MigrationAltered, match=FIRST):
        migrate(dsn, folder)
    with psycopg.connect(dsn) as connection:
        assert connection.execute("SELECT to_regclass('other')").fetchone() == (None,)


def test_a_failing_file_leaves_nothing_of_itself(dsn: str, folder: Path) -> None:
    (folder / SECOND).write_text("CREATE TABLE other (); SELECT 1/0;")
    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate(dsn, folder)
    with psycopg.connect(dsn) as connection:
        assert connection.execute("SELECT to_regclass('other')").fetchone() == (None,)
    assert pending(dsn, folder) == [SECOND]


def test_two_migrators_share_the_work(dsn: str, folder: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        applied = [run.result() for run in [pool.submit(migrate, dsn, folder) for _ in range(4)]]
    assert sorted(applied, key=len) == [[], [], [], [FIRST, SECOND]]


@pytest.mark.parametrize(
    "name", ["1_create_item.pre.sql", "0003_create.pre.sql", "0003_create_item.sql", "0003_Create_item.pre.sql"]
)
def test_a_misnamed_file_is_refused(folder: Path, name: str) -> None:
    (folder / name).write_text("SELECT 1;")
    with pytest.raises(InvalidSqlFile, match="NNNN_verb_noun"):
        read(folder)


def test_two_files_with_one_number_are_refused(folder: Path) -> None:
    (folder / "0002_drop_title.post.sql").write_text("SELECT 1;")
    with pytest.raises(InvalidSqlFile, match="one number"):
        read(folder)
