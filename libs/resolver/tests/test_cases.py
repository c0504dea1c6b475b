"""What people decide: once, at the revision that they saw, and the same again for a retry."""

import asyncio
from dataclasses import replace

import psycopg
import pytest
from assay_cli.stack.databases import Database
from assay_resolver import case_view, cases, rules
from assay_resolver.cases import CaseRequest
from assay_resolver.decisions import Decided
from assay_resolver.errors import CaseConflict, NotACandidate, RequestReused, UnknownCase
from assay_resolver.streams import Connection

from .world import World, product

LAMP = product("Acme Desk Lamp Nordic 40W", brand="Acme", mpn="NL-40X")


async def doubt(world: World, stages: Connection) -> tuple[CaseRequest, str]:
    """Two pages alike, the second of which is an open question; the request to answer it, and the first's item."""
    await world.see(stages, product("Acme Desk Lamp Nordic 40W", brand="Acme"), url="https://shop.example/a")
    assert (await world.see(stages, LAMP, url="https://shop.example/b")).outcome == "case"
    (case_id,) = world.one("SELECT case_id FROM review_case")
    (item_id,) = world.one("SELECT item_id FROM item")
    return CaseRequest(world.stream, str(case_id), 1, "req-1", "ann", "same lamp"), str(item_id)


async def test_a_case_shows_facts_beside_candidates(world: World, stages: Connection, people: Connection) -> None:
    request, item_id = await doubt(world, stages)
    async with people.transaction():
        shown = await case_view.show_case(people, world.stream, request.case_id)
        listed = await case_view.list_cases(people, world.stream)
    assert [row.case_id for row in listed] == [request.case_id]
    assert [candidate["item_id"] for candidate in shown["candidates"]] == [item_id]  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]
    assert len(shown["facts"]) == len(LAMP)  # pyright: ignore[reportArgumentType]


async def test_accepting_maps_the_listing_and_closes_the_case(
    world: World, stages: Connection, people: Connection
) -> None:
    request, item_id = await doubt(world, stages)
    async with people.transaction():
        decided = await cases.accept(people, request, item_id)
    assert decided.events[0].type == "mapping.set"
    assert world.one("SELECT count(DISTINCT item_id), count(*) FROM mapping") == (1, 2)
    assert world.one("SELECT state, revision FROM review_case") == ("decided", 2)
    assert world.one("SELECT actor, rationale FROM decision WHERE action = 'person.accept'") == ("ann", "same lamp")


async def test_a_retry_gets_the_first_result_before_the_revision_is_looked_at(
    world: World, stages: Connection, people: Connection
) -> None:
    request, item_id = await doubt(world, stages)
    async with people.transaction():
        first = await cases.accept(people, request, item_id)
    async with people.transaction():
        again = await cases.accept(people, request, item_id)
    assert again.repeated and again.decision_id == first.decision_id and again.events == first.events


async def test_a_retry_that_looked_at_the_case_again_gets_the_first_result_too(
    world: World, stages: Connection, people: Connection
) -> None:
    request, item_id = await doubt(world, stages)
    async with people.transaction():
        first = await cases.accept(people, request, item_id)
    async with people.transaction():
        again = await cases.accept(people, replace(request, expected_revision=2), item_id)
    assert again.repeated and again.decision_id == first.decision_id


async def test_a_request_id_serves_one_decision_only(world: World, stages: Connection, people: Connection) -> None:
    request, item_id = await doubt(world, stages)
    async with people.transaction():
        await cases.accept(people, request, item_id)
    with pytest.raises(RequestReused):
        async with people.transaction():
            await cases.reject(people, request)


async def test_creating_makes_an_item_that_the_rule_never_joins_with_the_candidate(
    world: World, stages: Connection, people: Connection
) -> None:
    request, _ = await doubt(world, stages)
    async with people.transaction():
        await cases.create_item(people, request)
    assert world.one("SELECT count(DISTINCT item_id) FROM mapping") == (2,)
    assert world.one("SELECT count(*) FROM verdict") == (1,)


async def test_an_item_that_gets_a_key_takes_in_the_listings_that_waited_for_it(
    world: World, stages: Connection, people: Connection
) -> None:
    request, _ = await doubt(world, stages)
    assert (await world.see(stages, LAMP, url="https://shop.example/c")).outcome == "case"
    async with people.transaction():
        decided = await cases.create_item(people, request)
    assert [event.type for event in decided.events].count("mapping.set") == 2
    assert world.one("SELECT count(*) FROM review_case WHERE state = 'withdrawn'") == (1,)


async def test_listings_that_a_decision_does_not_take_in_find_their_item_when_their_page_is_seen_again(
    world: World, stages: Connection, people: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, item_id = await doubt(world, stages)
    for name in "cde":
        await world.see(stages, LAMP, url=f"https://shop.example/{name}")
    monkeypatch.setattr(rules, "MAX_RERUN", 1)
    async with people.transaction():
        await cases.accept(people, request, item_id)
    assert world.one("SELECT count(*) FROM review_case WHERE state = 'open'") == (2,)
    (waiting,) = world.rows(
        "SELECT min(l.key) FROM listing l JOIN review_case ON subject = listing_id WHERE review_case.state = 'open'"
    )[0]
    assert (await world.see(stages, LAMP, url=str(waiting))).outcome == "mapped"
    assert world.one("SELECT count(*) FROM review_case WHERE state = 'open'") == (0,)
    assert world.one("SELECT count(*) FROM mapping") == (5,)


async def test_rejecting_keeps_the_page_out_until_it_states_a_new_key(
    world: World, stages: Connection, people: Connection
) -> None:
    request, _ = await doubt(world, stages)
    async with people.transaction():
        decided = await cases.reject(people, request)
    assert decided.events == ()
    assert world.one("SELECT state FROM listing WHERE url = 'https://shop.example/b'") == ("rejected",)
    assert (await world.see(stages, LAMP, url="https://shop.example/b")).outcome == "kept"
    keyed = await world.see(stages, {**LAMP, **product("x", gtin="04006381333931")}, url="https://shop.example/b")
    assert keyed.outcome in ("created", "case")
    assert world.one("SELECT max(serial) FROM listing") == (2,)


async def test_an_older_page_takes_no_question_away_and_revives_nothing(
    world: World, stages: Connection, people: Connection
) -> None:
    await world.see(stages, product("Lamp One", gtin="04006381333931"), at=1)
    assert (await world.see(stages, product("Lamp One", gtin="05901234123457"), at=9)).outcome == "case"
    asked = world.one("SELECT case_id, reading_id, revision FROM review_case WHERE state = 'open'")
    late = product("Lamp One", gtin="04012345678901")
    assert (await world.see(stages, late, at=5)).outcome == "kept"
    assert world.one("SELECT case_id, reading_id, revision FROM review_case WHERE state = 'open'") == asked
    async with people.transaction():
        await cases.reject(people, CaseRequest(world.stream, str(asked[0]), 1, "req-1", "ann", "another lamp"))
    assert (await world.see(stages, late, at=0)).outcome == "kept"


async def test_an_answer_to_an_old_picture_is_refused_with_the_new_one(
    world: World, stages: Connection, people: Connection
) -> None:
    request, item_id = await doubt(world, stages)
    await world.see(
        stages, product("Acme Desk Lamp Nordic 40W", brand="Acme", color="red"), url="https://shop.example/a"
    )
    with pytest.raises(CaseConflict) as refused:
        async with people.transaction():
            await cases.accept(people, request, item_id)
    assert refused.value.current["revision"] == 2
    assert world.one("SELECT count(*) FROM decision WHERE action = 'person.accept'") == (0,)


async def test_only_shown_items_and_known_cases_can_be_named(
    world: World, stages: Connection, people: Connection
) -> None:
    request, _ = await doubt(world, stages)
    with pytest.raises(NotACandidate):
        async with people.transaction():
            await cases.accept(people, request, "item_none")
    unknown = CaseRequest(world.stream, "case_none", 1, "req-2", "ann", "")
    with pytest.raises(UnknownCase):
        async with people.transaction():
            await cases.reject(people, unknown)


async def test_of_twenty_racers_one_decides(world: World, stages: Connection, resolver_db: Database) -> None:
    request, item_id = await doubt(world, stages)
    (before,) = world.one("SELECT count(*) FROM outbox")

    async def race(number: int) -> Decided | CaseConflict:
        racer = CaseRequest(world.stream, request.case_id, 1, f"racer-{number}", f"person-{number}", "mine")
        async with await psycopg.AsyncConnection.connect(resolver_db.dsn("assay_resolver_api")) as connection:
            try:
                async with connection.transaction():
                    await connection.execute("SELECT set_config('assay.tenant_id', 'ten_one', true)")
                    return await cases.accept(connection, racer, item_id)
            except CaseConflict as conflict:
                return conflict

    results = await asyncio.gather(*(race(number) for number in range(20)))
    winners = [result for result in results if isinstance(result, Decided)]
    assert len(winners) == 1
    (after,) = world.one("SELECT count(*) FROM outbox")
    assert int(str(after)) - int(str(before)) == len(winners[0].events)
