"""The healthy world, built once per process that runs tests, and the ways in which a test may spoil it for itself."""

import asyncio
import uuid
from collections.abc import Iterator

import pytest
from assay_cli.stack import databases
from assay_cli.stack.databases import Database
from assay_cli.stack.s3 import create_bucket
from assay_cli.testing import Parts

from .place import Place, evidence_settings, make_topics
from .world import build


@pytest.fixture(scope="session")
def world(parts: Parts, resolver_template: Database, product_template: Database) -> Iterator[Place]:
    """Every hop done, nothing wrong; tests change it only in transactions that they roll back."""
    name = f"check-{uuid.uuid4().hex}"
    create_bucket(parts.s3.s3.endpoint, name)
    place = Place(
        databases.copy(resolver_template, f"{name}-resolver"),
        databases.copy(product_template, f"{name}-product"),
        make_topics(parts.kafka_bootstrap, f"{name}."),
        evidence_settings(parts.s3.evidence(name)),
    )
    asyncio.run(build(place))
    yield place
    for database in (place.resolver, place.product):
        databases.drop(database)
