"""A resolver database of a test's own, its topics, and real relay processes between them."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from assay_cli.stack.databases import Database
from assay_cli.testing import Bucket
from assay_contracts.topics import topic
from assay_runtime.kafka import ensure_topics
from assay_runtime.settings import KafkaSettings

from .api_world import Api, serving
from .retention_world import Retention, under_retention
from .world import EVENTS, Outbox, Processes, Relays, TopicLog, make_topic


@pytest.fixture
def outbox(resolver_db: Database) -> Iterator[Outbox]:
    """An empty resolver database and the means to fill it."""
    world = Outbox(resolver_db.admin_dsn)
    yield world
    world.connection.close()


@pytest.fixture
async def retained(resolver_db: Database) -> AsyncIterator[Retention]:
    """An empty resolver database under retention."""
    async with under_retention(resolver_db) as world:
        yield world


@pytest.fixture
async def api(retained: Retention, evidence_bucket: Bucket) -> AsyncIterator[Api]:
    """The relay's API over that database."""
    async with serving(retained, evidence_bucket) as running:
        yield running


@pytest.fixture
def topic_log(kafka_bootstrap: str, kafka_prefix: str) -> TopicLog:
    """The event topic and the job topic with their dead letters, empty."""
    settings = KafkaSettings(kafka_bootstrap=kafka_bootstrap, kafka_prefix=kafka_prefix)
    names = [EVENTS, "resolution.job.v1", "resolution.job.v1.dlq", "history.witness.v1"]
    ensure_topics(settings, [topic(name) for name in names], 1)
    return TopicLog(settings)


@pytest.fixture
def small_topic_log(kafka_bootstrap: str, kafka_prefix: str) -> TopicLog:
    """An event topic whose broker refuses more than 20,000 bytes at once."""
    settings = KafkaSettings(kafka_bootstrap=kafka_bootstrap, kafka_prefix=kafka_prefix)
    make_topic(settings, EVENTS, {"max.message.bytes": "20000"})
    return TopicLog(settings)


@pytest.fixture
def relays(resolver_db: Database, kafka_bootstrap: str, kafka_prefix: str) -> Iterator[Relays]:
    """Makes relays inside the test's own process, to be turned by hand; topics are another fixture's."""
    settings = KafkaSettings(kafka_bootstrap=kafka_bootstrap, kafka_prefix=kafka_prefix)
    made = Relays(resolver_db.dsn("assay_relay_events"), settings)
    yield made
    made.close()


@pytest.fixture
def processes(resolver_db: Database, topic_log: TopicLog, tmp_path: Path) -> Iterator[Processes]:
    """Starts `python -m assay_relay` against this test's parts."""
    role = {"events": "assay_relay_events", "jobs": "assay_relay_jobs"}
    environment = {
        "ASSAY_DSN": resolver_db.dsn(role["events"]),
        "ASSAY_KAFKA_BOOTSTRAP": topic_log.settings.kafka_bootstrap,
        "ASSAY_KAFKA_PREFIX": topic_log.settings.kafka_prefix,
        "ASSAY_RELAY_LEASE_SECONDS": "1",
    }
    started = Processes(environment, tmp_path / "relay.log")
    yield started
    started.end()
