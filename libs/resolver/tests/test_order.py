"""In whatever order the looks at a page arrive, the latest counts: pages that are gone, asked about, or rejected."""

from collections.abc import Mapping

import pytest
from assay_resolver import cases
from assay_resolver.cases import CaseRequest
from assay_resolver.decisions import Decided
from assay_resolver.errors import CaseConflict
from assay_resolver.streams import Connection

from .deciding import Person
from .world import PAGE, World, product

A, B, C = "04006381333931", "05901234123457", "04012345678901"

Page = Mapping[str, Mapping[str, object]]


def lamp(gtin: str = A, price: str = "9") -> Page:
    return product(f"Lamp {gtin}", gtin=gtin, price=price, currency="EUR")


def asked(world: World) -> CaseRequest:
    """An answer to the one open case as it stands."""
    case_id, revision = world.one("SELECT case_id, revision FROM review_case WHERE state = 'open'")
    return CaseRequest(world.stream, str(case_id), int(str(revision)), f"req-{case_id}-{revision}", "ann", "I looked")


def listing(world: World) -> tuple[object, ...]:
    """State and serial of the page's newest listing, and the gtin by which it speaks."""
    return world.one(
        "SELECT l.state, l.serial, f.value::json ->> 'code' FROM listing l JOIN fact f USING (reading_id)"
        " WHERE f.name = 'gtin' ORDER BY l.serial DESC LIMIT 1"
    )


def offer(world: World) -> object:
    return world.one("SELECT value::json ->> 'price' FROM attribute WHERE name = 'offer'")[0]


def wrongs(world: World) -> list[str]:
    """What the checker finds once it knows that every look was decided about."""
    world.admin.execute("SET session_replication_role = replica")
    for capture_id in world.captures:
        world.admin.execute(
            "INSERT INTO inbox (tenant_id, job_id) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            [world.tenant, f"{capture_id}:identity:1"],
        )
    world.admin.execute("SET session_replication_role = origin")
    return world.wrongs()


async def reject(world: World, person: Person) -> Decided:
    request = asked(world)
    return await person.run(lambda: cases.reject(person.conn, request))


async def test_a_gone_page_stays_gone_when_an_older_one_comes_late(world: World, stages: Connection) -> None:
    await world.see(stages, lamp(), at=1)
    assert (await world.see(stages, {}, status=404, at=3)).outcome == "gone"
    assert (await world.see(stages, lamp(price="11"), at=2)).outcome == "unchanged"
    assert (listing(world)[0], offer(world)) == ("gone", None)
    assert wrongs(world) == []
    assert (await world.see(stages, lamp(), at=4)).outcome == "changed"
    assert listing(world)[0] == "open"
    assert offer(world) is not None


async def test_a_late_word_that_a_page_is_gone_takes_nothing_from_a_later_page(
    world: World, stages: Connection
) -> None:
    await world.see(stages, lamp(), at=1)
    await world.see(stages, {}, status=410, at=3)
    await world.see(stages, lamp(), at=4)
    assert (await world.see(stages, {}, status=410, at=2)).outcome == "kept"
    assert listing(world)[0] == "open"


async def test_that_a_page_is_gone_is_remembered_to_its_last_look(world: World, stages: Connection) -> None:
    await world.see(stages, lamp(), at=1)
    await world.see(stages, {}, status=404, at=3)
    await world.see(stages, {}, status=404, at=6)
    await world.see(stages, lamp(price="11"), at=5)
    assert listing(world)[0] == "gone"


async def test_an_answer_about_a_page_that_is_gone_since_brings_it_not_back(
    world: World, stages: Connection, person: Person
) -> None:
    await world.see(stages, lamp(), at=1)
    await world.see(stages, lamp(B), at=2)
    await world.see(stages, {}, status=404, at=3)
    request = asked(world)
    await person.run(lambda: cases.create_item(person.conn, request))
    assert listing(world) == ("gone", 1, B)
    assert wrongs(world) == []


@pytest.mark.parametrize("late", [A, B, C])
async def test_an_older_page_takes_no_question_over(world: World, stages: Connection, late: str) -> None:
    await world.see(stages, lamp(), at=1)
    await world.see(stages, lamp(B), at=3)
    case = world.one("SELECT case_id, reading_id, revision, state FROM review_case")
    assert (await world.see(stages, lamp(late, price="11"), at=2)).outcome == "kept"
    assert world.one("SELECT case_id, reading_id, revision, state FROM review_case") == case
    assert wrongs(world) == []


@pytest.mark.parametrize("at", [0, 2])
async def test_an_older_page_starts_nothing_anew_after_a_rejection(
    world: World, stages: Connection, person: Person, at: int
) -> None:
    await world.see(stages, lamp(), at=1)
    await world.see(stages, lamp(B), at=3)
    await reject(world, person)
    assert (await world.see(stages, lamp(C), at=at)).outcome == "kept"
    assert listing(world)[:2] == ("rejected", 1)
    assert (await world.see(stages, lamp(C), at=4)).outcome == "created"
    assert listing(world)[:2] == ("open", 2)


async def test_a_rejected_page_stays_out_at_the_next_crawl(world: World, stages: Connection, person: Person) -> None:
    await world.see(stages, lamp(), at=1)
    await world.see(stages, lamp(B), at=2)
    decided = await reject(world, person)
    for at, gtin in enumerate((B, A, B), start=3):
        assert (await world.see(stages, lamp(gtin), at=at)).outcome == "kept"
    assert listing(world)[:2] == ("rejected", 1)
    assert wrongs(world) == []
    await person.undo(decided)
    assert world.rows("SELECT value FROM listing_key WHERE kind = 'gtin'") == [(A,)]


async def test_a_key_called_wrong_brings_no_rejected_page_back(
    world: World, stages: Connection, person: Person
) -> None:
    await world.see(stages, lamp(), at=1)
    await world.see(stages, lamp(B), at=2)
    await reject(world, person)
    await person.key_is_wrong(world.listing_of(PAGE), f"gtin:{A}")
    assert (await world.see(stages, lamp(A), at=3)).outcome == "kept"
    assert (await world.see(stages, lamp(B), at=4)).outcome == "kept"


@pytest.mark.parametrize("price", ["9", "11"])
async def test_a_question_goes_when_the_page_no_longer_raises_it(
    world: World, stages: Connection, person: Person, price: str
) -> None:
    await world.see(stages, lamp(), at=1)
    await world.see(stages, lamp(B), at=2)
    seen = asked(world)
    resolved = await world.see(stages, lamp(price=price), at=3)
    assert resolved.outcome == ("unchanged" if price == "9" else "changed")
    assert world.rows("SELECT state FROM review_case") == [("withdrawn",)]
    with pytest.raises(CaseConflict):
        await person.run(lambda: cases.create_item(person.conn, seen))
    assert world.one("SELECT count(*) FROM item") == (1,)
    assert wrongs(world) == []
    await person.undo(resolved.decisions[-1])
    assert world.rows("SELECT state FROM review_case") == [("open",)]


async def test_a_question_follows_the_page_that_raises_another(world: World, stages: Connection) -> None:
    await world.see(stages, lamp(), at=1)
    await world.see(stages, lamp(B), at=2)
    before = world.one("SELECT case_id, revision FROM review_case")
    assert (await world.see(stages, lamp(C), at=3)).outcome == "case"
    after = world.one("SELECT case_id, revision FROM review_case")
    assert (after[0], after[1]) == (before[0], int(str(before[1])) + 1)
