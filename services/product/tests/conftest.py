"""A database, topics and processes of the product for each test that asks."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from assay_cli.stack.databases import Database
from assay_product.api import make_app
from assay_product.store.queries import Reader
from assay_runtime.http import KeyRing
from assay_runtime.postgres import open_async_pool
from httpx import ASGITransport, AsyncClient
from pydantic import SecretStr

from .clients import PEPPER, Client, give_key
from .parts import Broker, Process, Projection, Start
from .stories import EPOCH


@pytest.fixture
def projection(product_db: Database) -> Iterator[Projection]:
    """A product database of this test's own, under the role of apply."""
    with psycopg.connect(product_db.dsn("assay_apply")) as conn:
        yield Projection(conn)


@pytest.fixture
def broker(kafka_bootstrap: str, kafka_prefix: str) -> Iterator[Broker]:
    """Event topics that no other test uses."""
    made = Broker(kafka_bootstrap, kafka_prefix)
    yield made
    made.close()


@pytest.fixture
def start_apply(product_db: Database, broker: Broker, tmp_path: Path) -> Iterator[Start]:
    """Starts apply processes on this test's database and topics, with more environment where given."""
    started: list[Process] = []

    def start(**more: str) -> Process:
        env = {
            "ASSAY_DSN": product_db.dsn("assay_apply"),
            "ASSAY_KAFKA_BOOTSTRAP": broker.settings.kafka_bootstrap,
            "ASSAY_KAFKA_PREFIX": broker.settings.kafka_prefix,
            "ASSAY_HISTORY_EPOCH": EPOCH,
            "ASSAY_ENVIRONMENT": "test",
            **more,
        }
        started.append(Process("apply", env, tmp_path / "apply.log"))
        return started[-1]

    yield start
    for process in started:
        process.close()


@pytest.fixture
async def api(product_db: Database) -> AsyncIterator[Client]:
    """The read API over this test's database, with keys for two tenants."""
    async with await open_async_pool(SecretStr(product_db.dsn("assay_product_api")), 1, 4, "test") as pool:
        reader = Reader(pool)
        app = make_app(reader, KeyRing(PEPPER, reader.find_key))
        with psycopg.connect(product_db.dsn("assay_operator")) as operator:
            keys = {tenant: give_key(operator, tenant) for tenant in ("ten_a", "ten_b")}
        async with AsyncClient(transport=ASGITransport(app), base_url="http://catalog") as http:
            yield Client(app, http, keys)
