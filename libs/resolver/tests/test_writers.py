"""Many writers over several streams, some of whom are killed: no lost update, no hole, one effect for each decision."""

import asyncio
import random

import psycopg
from assay_cli.stack.databases import Database
from assay_resolver import items, undoing
from assay_resolver.decisions import Asked, Decided
from assay_resolver.errors import ResolverError
from assay_resolver.streams import Connection, Stream

from .deciding import Person
from .world import World, product

GTINS = ("04006381333931", "04006381333948", "04006381333955", "04006381333962")
WRITERS = 6
EACH = 12


async def four_items(world: World, stages: Connection) -> list[str]:
    """Four pages that nothing joins: their items."""
    pages = [f"https://{world.catalog}.example/{number}" for number in range(4)]
    for page, gtin in zip(pages, GTINS, strict=True):
        await world.see(stages, product(f"Thing {gtin}", gtin=gtin, price="1", currency="EUR"), url=page)
    return [world.item_of(page) for page in pages]


async def write(database: Database, worlds: list[tuple[World, list[str]]], writer: int) -> list[Decided]:
    """Random decisions at the revisions as they are, each writer with some that die before their commit."""
    chance, made = random.Random(writer), list[Decided]()
    for number in range(EACH):
        world, known = chance.choice(worlds)
        async with await psycopg.AsyncConnection.connect(database.dsn("assay_resolver_api")) as connection:
            try:
                async with connection.transaction():
                    await connection.execute("SELECT set_config('assay.tenant_id', 'ten_one', true)")
                    asked = Asked(world.stream, f"writer-{writer}-{number}", f"person-{writer}", "so")
                    decided = await _act(connection, asked, chance, known, made)
                    if chance.random() < 0.2:
                        await _kill(database, connection)
                made.append(decided)
            except (ResolverError, psycopg.OperationalError):
                continue
    return made


async def _act(
    connection: Connection, asked: Asked, chance: random.Random, known: list[str], made: list[Decided]
) -> Decided:
    one, other = chance.sample(known, 2)
    rows = await connection.execute("SELECT item_id, revision FROM item WHERE item_id = ANY(%s)", [[one, other]])
    seen: dict[str, int] = dict(await rows.fetchall())
    match chance.randrange(4):
        case 0:
            return await items.merge(connection, asked, seen, one, other)
        case 1:
            return await items.retire(connection, asked, {one: seen[one]}, one, "other")
        case 2:
            return await items.revive(connection, asked, {one: seen[one]}, one)
        case _:
            chosen = chance.choice(made).decision_id if made else "dec_none"
            return await undoing.undo(connection, asked, chosen, partial=True)


async def _kill(database: Database, connection: Connection) -> None:
    pid = connection.info.backend_pid
    async with await psycopg.AsyncConnection.connect(database.admin_dsn) as admin:
        await admin.execute("SELECT pg_terminate_backend(%s)", [pid])


async def test_many_writers_and_kills_leave_whole_streams(
    world: World, stages: Connection, resolver_db: Database
) -> None:
    other = World(world.admin, catalog="cat_other").found()
    worlds = [(one, await four_items(one, stages)) for one in (world, other)]
    results = await asyncio.gather(*(write(resolver_db, worlds, writer) for writer in range(WRITERS)))
    made = {decided.decision_id: decided for result in results for decided in result}
    stored = {str(row[0]) for row in world.rows("SELECT decision_id FROM decision WHERE actor LIKE 'person-%%'")}
    assert made and stored == set(made)
    for decided in made.values():
        rows = world.rows("SELECT position FROM change WHERE decision_id = %s ORDER BY 1", decided.decision_id)
        assert [row[0] for row in rows] == [event.position for event in decided.events]
    assert world.wrongs() == []


async def test_of_twenty_racers_on_one_item_one_decides(
    world: World, stages: Connection, person: Person, resolver_db: Database
) -> None:
    known = await four_items(world, stages)
    seen = person.seen(*known[:2])
    stream = Stream("ten_one", "cat_main", world.stream.history_epoch)

    async def race(number: int) -> bool:
        asked = Asked(stream, f"racer-{number}", "ann", "mine")
        async with await psycopg.AsyncConnection.connect(resolver_db.dsn("assay_resolver_api")) as connection:
            try:
                async with connection.transaction():
                    await connection.execute("SELECT set_config('assay.tenant_id', 'ten_one', true)")
                    await items.merge(connection, asked, seen, known[0], known[1])
            except ResolverError:
                return False
        return True

    assert sum(await asyncio.gather(*(race(number) for number in range(20)))) == 1
    assert world.one("SELECT count(*) FROM change WHERE type = 'item.merged'") == (1,)
    assert world.wrongs() == []
