"""One intake process for all tests of a run that do not hurt it, and a place of their own for those that do."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from assay_cli.stack import databases
from assay_cli.stack.databases import Database
from assay_cli.stack.s3 import create_bucket
from assay_cli.testing import Parts
from assay_contracts.topics import TOPICS
from assay_runtime.kafka import ensure_topics
from assay_runtime.settings import KafkaSettings

from .world import PEPPER, IntakeProcess, Place, Tenant, new_tenant, start_intake

Starter = Callable[..., IntakeProcess]


@pytest.fixture(scope="session")
def place(parts: Parts, resolver_template: Database) -> Iterator[Place]:
    """A database, a bucket and topics that the tests of this worker share, each with tenants of its own."""
    name = uuid.uuid4().hex
    database = databases.copy(resolver_template, f"intake_{name}")
    create_bucket(parts.s3.s3.endpoint, f"intake-{name}")
    kafka = KafkaSettings(kafka_bootstrap=parts.kafka_bootstrap, kafka_prefix=f"intake-{name}.")
    ensure_topics(kafka, [TOPICS["resolution.job.v1"]], replication=1)
    yield Place(
        database,
        {
            **parts.s3.evidence(f"intake-{name}"),
            "ASSAY_DSN": database.dsn("assay_intake"),
            "ASSAY_KAFKA_BOOTSTRAP": kafka.kafka_bootstrap,
            "ASSAY_KAFKA_PREFIX": kafka.kafka_prefix,
            "ASSAY_KEY_PEPPER": PEPPER,
            "ASSAY_MAX_ARTIFACT_BYTES": str(1 << 20),
            "ASSAY_MAX_BODY_BYTES": str(4 << 20),
        },
    )
    databases.drop(database)


@pytest.fixture(scope="session")
def intake(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[IntakeProcess]:
    """The process that tests share; it must be alive and well at the end."""
    running = start_intake(place, tmp_path_factory.mktemp("intake"))
    yield running
    assert running.end() == 0
    assert [event for event in running.events() if event["event"] == "http.defect"] == []
    assert "assay_key_" not in running.log_path.read_text()


@pytest.fixture
def start(place: Place, tmp_path: Path) -> Iterator[Starter]:
    """Starts processes of this test's own, each with settings of its own."""
    started: list[IntakeProcess] = []

    def start_one(where: Place = place, **settings: str) -> IntakeProcess:
        started.append(start_intake(where, tmp_path, **settings))
        return started[-1]

    yield start_one
    for running in started:
        running.kill()


@pytest.fixture
def tenant(place: Place) -> Tenant:
    """A tenant of this test's own."""
    return new_tenant(place)
