"""A place of its own for every test of the stages, or one that harmless tests share."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from assay_cli.stack import databases
from assay_cli.stack.databases import Database
from assay_cli.stack.s3 import create_bucket
from assay_cli.testing import Bucket, Parts
from assay_contracts.ids import TenantId
from assay_contracts.topics import TOPICS
from assay_runtime.kafka import Publisher, ensure_topics
from assay_runtime.settings import EvidenceSettings, KafkaSettings
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from pydantic import SecretStr

from .stage_process import StageProcess, start
from .tcp_proxy import TcpProxy
from .world import JOBS, Place, new_tenant

Starter = Callable[..., StageProcess]


@dataclass(frozen=True)
class Wire:
    """A proxy before a part, and the address that leads through it."""

    proxy: TcpProxy
    dsn: str


def _evidence(environment: dict[str, str]) -> EvidenceSettings:
    return EvidenceSettings(
        s3_endpoint=environment["ASSAY_S3_ENDPOINT"],
        s3_bucket=environment["ASSAY_S3_BUCKET"],
        s3_access_key=SecretStr(environment["ASSAY_S3_ACCESS_KEY"]),
        s3_secret_key=SecretStr(environment["ASSAY_S3_SECRET_KEY"]),
        s3_region=environment["ASSAY_S3_REGION"],
    )


def _place(parts: Parts, database: Database, prefix: str, environment: dict[str, str]) -> Iterator[Place]:
    kafka = KafkaSettings(kafka_bootstrap=parts.kafka_bootstrap, kafka_prefix=prefix)
    ensure_topics(kafka, [TOPICS[JOBS]], replication=1)
    with Publisher(kafka) as publisher:
        yield Place(database, kafka, _evidence(environment), environment, publisher)


@pytest.fixture(scope="session")
def shared_place(parts: Parts, resolver_template: Database) -> Iterator[Place]:
    """For tests that keep to tenants of their own and start no process."""
    name = f"stages-{uuid.uuid4().hex}"
    create_bucket(parts.s3.s3.endpoint, name)
    database = databases.copy(resolver_template, name)
    yield from _place(parts, database, f"{name}.", parts.s3.evidence(name))
    databases.drop(database)


@pytest.fixture
def own_place(parts: Parts, resolver_db: Database, kafka_prefix: str, evidence_bucket: Bucket) -> Iterator[Place]:
    """For tests that start processes or take parts away."""
    yield from _place(parts, resolver_db, kafka_prefix, evidence_bucket.settings)


@pytest.fixture
def tenant(shared_place: Place) -> TenantId:
    """A tenant in the shared place."""
    return new_tenant(shared_place)


@pytest.fixture
def run_stage(own_place: Place, tmp_path: Path) -> Iterator[Starter]:
    """Starts stage processes in the test's own place; none outlives the test."""
    started: list[StageProcess] = []

    def start_one(stage: str, **settings: str) -> StageProcess:
        started.append(start(own_place, stage, tmp_path, **settings))
        return started[-1]

    yield start_one
    for running in started:
        running.kill()


def wire_to(database: Database) -> Wire:
    """A wire to a database, as the stages' role."""
    dsn = database.dsn("assay_stages")
    where = conninfo_to_dict(dsn)
    proxy = TcpProxy(str(where["host"]), int(str(where["port"])))
    return Wire(proxy, make_conninfo(dsn, host="127.0.0.1", port=proxy.port))


@pytest.fixture
def postgres_wire(shared_place: Place) -> Iterator[Wire]:
    """A wire to the shared database that this test may cut."""
    wire = wire_to(shared_place.database)
    yield wire
    wire.proxy.close()


@pytest.fixture
def own_wire(own_place: Place) -> Iterator[Wire]:
    """A wire to the test's own database."""
    wire = wire_to(own_place.database)
    yield wire
    wire.proxy.close()
