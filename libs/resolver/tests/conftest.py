"""A world of one tenant, and connections of the roles that decide in it."""

from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest
from assay_cli.stack.databases import Database
from assay_resolver.streams import Connection

from .deciding import Person
from .world import World


@pytest.fixture
def world(resolver_db: Database) -> Iterator[World]:
    with psycopg.connect(resolver_db.admin_dsn, autocommit=True) as admin:
        yield World(admin).found()


@pytest.fixture
async def stages(resolver_db: Database) -> AsyncIterator[Connection]:
    async with await psycopg.AsyncConnection.connect(resolver_db.dsn("assay_stages")) as connection:
        yield connection


@pytest.fixture
async def people(resolver_db: Database) -> AsyncIterator[Connection]:
    """The resolver API's role, as a request of the world's tenant."""
    async with await psycopg.AsyncConnection.connect(resolver_db.dsn("assay_resolver_api")) as connection:
        await connection.execute("SELECT set_config('assay.tenant_id', 'ten_one', false)")
        await connection.commit()
        yield connection


@pytest.fixture
def person(world: World, people: Connection) -> Person:
    """Somebody who decides in the world."""
    return Person(world, people)
