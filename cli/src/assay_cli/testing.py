"""The pytest plugin of the whole repository: real parts, started once per test run, and a place of its own per test.

Every fixture starts only the part it needs. The parts belong to the process that runs pytest (with xdist, the one that
hands out the tests): they end with it, even if it is killed. Which workers share them is settled by a lock file.
"""

import fcntl
import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay_cli.stack import Stack, databases
from assay_cli.stack.databases import Database
from assay_cli.stack.installation import Installation
from assay_cli.stack.s3 import create_bucket

_HOME = "ASSAY_TEST_HOME"
_OWNER = "ASSAY_TEST_OWNER"
_PARTS = ("postgres", "kafka", "s3")


def pytest_configure(config: pytest.Config) -> None:
    """The process that leads the run chooses a folder for its parts; its workers inherit the choice."""
    if not hasattr(config, "workerinput"):
        os.environ[_HOME] = tempfile.mkdtemp(prefix="assay-test-")
        os.environ[_OWNER] = str(os.getpid())


def pytest_unconfigure(config: pytest.Config) -> None:
    """The leader ends what was started."""
    home = os.environ.get(_HOME)
    if hasattr(config, "workerinput") or home is None:
        return
    for part in _PARTS:
        if (Path(home) / part).exists():
            Stack(Path(home) / part).down()
    shutil.rmtree(home)
    del os.environ[_HOME]


@contextmanager
def _one_at_a_time() -> Generator[Path]:
    home = Path(os.environ[_HOME])
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield home


def _up(part: str) -> Installation:
    with _one_at_a_time() as home:
        return Stack(home / part).up(only=[part], owner_pid=int(os.environ[_OWNER]))


@pytest.fixture(scope="session")
def postgres_server() -> Installation:
    """One real Postgres for the whole run."""
    return _up("postgres")


@pytest.fixture(scope="session")
def kafka_bootstrap() -> str:
    """One real Kafka for the whole run: its host:port."""
    return _up("kafka").kafka.bootstrap


@pytest.fixture(scope="session")
def s3_server() -> Installation:
    """One real S3 server for the whole run."""
    return _up("s3")


@dataclass(frozen=True, slots=True)
class Parts:
    """All three parts of this test run."""

    postgres: Installation
    kafka_bootstrap: str
    s3: Installation


@pytest.fixture(scope="session")
def parts(postgres_server: Installation, kafka_bootstrap: str, s3_server: Installation) -> Parts:
    """Postgres, Kafka and S3 together."""
    return Parts(postgres_server, kafka_bootstrap, s3_server)


def _template(server: Installation, kind: str) -> Database:
    with _one_at_a_time():
        return databases.provision(server.postgres, server.credentials, kind, f"template_{kind}")


def _fresh(template: Database) -> Iterator[Database]:
    with _one_at_a_time():
        database = databases.copy(template, f"t_{uuid.uuid4().hex}")
    yield database
    databases.drop(database)


@pytest.fixture(scope="session")
def resolver_template(postgres_server: Installation) -> Database:
    """The migrated resolver database that others are copied from; nobody connects to it."""
    return _template(postgres_server, "resolver")


@pytest.fixture(scope="session")
def product_template(postgres_server: Installation) -> Database:
    """The migrated product database that others are copied from; nobody connects to it."""
    return _template(postgres_server, "product")


@pytest.fixture
def resolver_db(resolver_template: Database) -> Iterator[Database]:
    """A resolver database of this test's own: `.dsn(role)` for a role, `.admin_dsn` past all row level security."""
    yield from _fresh(resolver_template)


@pytest.fixture
def product_db(product_template: Database) -> Iterator[Database]:
    """A product database of this test's own: `.dsn(role)` for a role, `.admin_dsn` past all row level security."""
    yield from _fresh(product_template)


@pytest.fixture
def empty_db(postgres_server: Installation) -> Iterator[Database]:
    """A database of this test's own that holds nothing, owned by the migrator."""
    name = f"e_{uuid.uuid4().hex}"
    with _one_at_a_time():
        database = databases.create(postgres_server.postgres, postgres_server.credentials, name)
    yield database
    databases.drop(database)


@pytest.fixture
def kafka_prefix(request: pytest.FixtureRequest) -> str:
    """A prefix of topic and group names that no other test uses."""
    test = re.sub(r"[^a-z0-9]+", "-", str(request.node.name).lower())[:24].strip("-")
    return f"{test}-{uuid.uuid4().hex[:12]}."


@dataclass(frozen=True, slots=True)
class Bucket:
    """An evidence bucket of one test, and the settings that lead a process to it."""

    endpoint: str
    name: str
    settings: dict[str, str]


@pytest.fixture
def evidence_bucket(s3_server: Installation) -> Bucket:
    """An empty bucket of this test's own."""
    name = f"t-{uuid.uuid4().hex}"
    create_bucket(s3_server.s3.endpoint, name)
    return Bucket(s3_server.s3.endpoint, name, s3_server.evidence(name))
