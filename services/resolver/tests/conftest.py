"""One process of the resolver's API for all tests of a worker, and tenants of their own for each."""

import uuid
from collections.abc import Iterator

import pytest
from assay_cli.stack import databases
from assay_cli.stack.databases import Database
from assay_cli.stack.installation import Installation
from assay_cli.stack.s3 import create_bucket

from .world import PEPPER, ApiProcess, Tenant, new_tenant, start_api


@pytest.fixture(scope="session")
def database(resolver_template: Database) -> Iterator[Database]:
    """A resolver database that the tests of this worker share."""
    copied = databases.copy(resolver_template, f"resolver_api_{uuid.uuid4().hex}")
    yield copied
    databases.drop(copied)


@pytest.fixture(scope="session")
def evidence(s3_server: Installation) -> dict[str, str]:
    """The settings of a bucket that the tests of this worker share."""
    bucket = f"resolver-api-{uuid.uuid4().hex}"
    create_bucket(s3_server.s3.endpoint, bucket)
    return s3_server.evidence(bucket)


@pytest.fixture(scope="session")
def api(database: Database, evidence: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiProcess]:
    """The process that tests share; it must be alive and well at the end."""
    environment = {
        **evidence,
        "ASSAY_DSN": database.dsn("assay_resolver_api"),
        "ASSAY_KEY_PEPPER": PEPPER,
    }
    running = start_api(environment, tmp_path_factory.mktemp("resolver"))
    yield running
    assert running.end() == 0
    assert [event for event in running.events() if event["event"] == "http.defect"] == []
    assert "assay_key_" not in running.log_path.read_text()


@pytest.fixture
def tenant(database: Database, api: ApiProcess) -> Tenant:
    """A tenant of this test's own."""
    return new_tenant(database, api)


@pytest.fixture
def twin(database: Database, api: ApiProcess) -> Tenant:
    """Another tenant, who has nothing."""
    return new_tenant(database, api)
