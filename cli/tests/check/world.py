"""Builds the healthy small world: every hop done by the code that does it in production, every outcome once."""

import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import psycopg
from assay_cli.check.log import EVENTS, JOBS
from assay_resolver import case_view, cases, pins
from assay_resolver.cases import CaseRequest
from assay_resolver.pins import PinRequest
from assay_resolver.streams import Connection, Stream
from assay_runtime.kafka import Outgoing
from assay_runtime.keys import mint
from pydantic import SecretStr

from .pipeline import Pipeline, open_pipeline
from .place import EPOCH, Place
from .shop import CATALOG, DOUBTFUL, ONE, STORY, TWO, WAITING

PERSON = "person:reviewer"


async def build(place: Place) -> None:
    """Capture, decide by rule and by people, publish, project, and leave something waiting."""
    async with open_pipeline(place) as pipeline:
        for shown in (*STORY, *DOUBTFUL):
            await pipeline.capture(shown)
        _send_garbage(pipeline)
        await pipeline.settle()
        async with _people(place) as connection:
            await _decide(connection, pipeline)
        pipeline.relay()
        pipeline.apply()
        await pipeline.capture(WAITING[0])
        await pipeline.capture(WAITING[1], send=False)
    _give_keys(place)


@asynccontextmanager
async def _people(place: Place) -> AsyncGenerator[Connection]:
    """A connection that speaks for one tenant, as the resolver's API does."""
    dsn = place.resolver.dsn("assay_resolver_api")
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        await connection.execute("SELECT set_config('assay.tenant_id', %s, false)", [ONE])
        yield connection


async def _decide(connection: Connection, pipeline: Pipeline) -> None:
    """Accept one listing, reject another, pin a colour."""
    stream = Stream(ONE, CATALOG, EPOCH)
    open_cases = {row.subject: row for row in await case_view.list_cases(connection, stream)}
    keys = dict(
        await (await connection.execute("SELECT key, listing_id FROM listing WHERE source_id = 'src_gamma'")).fetchall()
    )
    accepted, rejected = (open_cases[keys[shown.url]] for shown in DOUBTFUL[1:])
    row = await (await connection.execute("SELECT id FROM case_ref WHERE type = 'item' LIMIT 1")).fetchone()
    assert row is not None
    item_id = str(row[0])
    async with connection.transaction():
        await cases.accept(connection, _answer(stream, accepted.case_id, accepted.revision), item_id)
    revision = (await case_view.list_cases(connection, stream))[-1].revision
    async with connection.transaction():
        await cases.reject(connection, _answer(stream, rejected.case_id, revision))
    wanted = PinRequest(stream, item_id, "color", {"type": "text", "text": "green", "lang": None}, "r1", PERSON, "seen")
    statement = wanted.statement()
    await pipeline.store.put(ONE, hashlib.sha256(statement).hexdigest(), statement, pins.MEDIA_TYPE)
    async with connection.transaction():
        await pins.pin_value(connection, wanted)


def _answer(stream: Stream, case_id: str, revision: int) -> CaseRequest:
    return CaseRequest(stream, case_id, revision, f"answer-{case_id}", PERSON, "looked at it")


def _send_garbage(pipeline: Pipeline) -> None:
    """Records that nobody can read, one on each topic."""
    pipeline.publisher.publish_batch(
        [Outgoing(topic, ONE.encode(), b"nonsense", [("origin", b"a test")]) for topic in (JOBS, EVENTS)]
    )


def _give_keys(place: Place) -> None:
    key = mint(SecretStr("a pepper for tests only"))
    for database in (place.resolver, place.product):
        with psycopg.connect(database.admin_dsn) as connection:
            connection.execute(
                "INSERT INTO api_key (tenant_id, key_id, mac, scopes) VALUES (%s, %s, %s, %s)",
                [TWO, key.key_id, key.mac, ["catalog:read"]],
            )
