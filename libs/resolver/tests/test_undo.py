"""Undo withdraws what still stands, as a decision that can be undone; what others decided since stays."""

import pytest
from assay_resolver import cases, undoing
from assay_resolver.cases import CaseRequest
from assay_resolver.errors import NothingToUndo, Superseded, UndoConflict, UnknownDecision, VerdictStands
from assay_resolver.streams import Connection

from .deciding import Person, types
from .world import World, product, text

GTIN, OTHER, THIRD = "04006381333931", "04006381333948", "04006381333955"
A, B, C, D = (f"https://shop.example/{page}" for page in "abcd")


async def three_items(world: World, stages: Connection) -> tuple[str, str, str]:
    """Three pages that nothing joins: their items."""
    pages = ((A, "Lamp", GTIN), (B, "Kettle", OTHER), (C, "Chair", THIRD))
    for page, name, gtin in pages:
        await world.see(stages, product(name, gtin=gtin, price="9.5", currency="EUR"), url=page)
    return world.item_of(A), world.item_of(B), world.item_of(C)


async def test_a_merge_undone_leaves_a_verdict_and_everything_else_as_it_was(
    world: World, stages: Connection, person: Person
) -> None:
    lamp, kettle, _ = await three_items(world, stages)
    before = world.picture()
    merged = await person.merge(kettle, lamp)
    undone = await person.undo(merged)
    assert types(undone)[0] == "item.changed"
    assert world.picture() == before
    assert world.one("SELECT undoes FROM decision WHERE decision_id = %s", undone.decision_id) == (merged.decision_id,)
    with pytest.raises(VerdictStands):
        await person.merge(kettle, lamp)
    assert world.wrongs() == []


async def test_homes_return_at_any_depth_and_later_listings_stay(
    world: World, stages: Connection, person: Person
) -> None:
    lamp, kettle, chair = await three_items(world, stages)
    first = await person.merge(kettle, lamp)
    await person.merge(lamp, chair)
    await world.see(stages, product("Kettle again", gtin=OTHER), url=D)
    assert world.item_of(D) == chair
    await person.undo(first)
    assert (world.item_of(A), world.item_of(B), world.item_of(C), world.item_of(D)) == (chair, kettle, chair, chair)
    assert world.wrongs() == []


async def test_an_undone_split_retires_its_item_if_it_is_empty(
    world: World, stages: Connection, person: Person
) -> None:
    for page in (A, B):
        await world.see(stages, product("Lamp", gtin=GTIN), url=page)
    lamp = world.item_of(A)
    before = world.picture()
    split = await person.split(lamp, world.listing_of(B))
    new = world.item_of(B)
    assert types(await person.undo(split))[-1] == "item.retired"
    assert world.item_of(B) == lamp and world.picture() == before
    assert world.one("SELECT state FROM item WHERE item_id = %s", new) == ("retired",)
    assert world.wrongs() == []


async def test_an_undone_split_keeps_its_item_if_something_has_joined_it(
    world: World, stages: Connection, person: Person
) -> None:
    for page in (A, B):
        await world.see(stages, product("Lamp", gtin=GTIN), url=page)
    await world.see(stages, product("Chair", gtin=THIRD), url=C)
    split = await person.split(world.item_of(A), world.listing_of(B))
    new = world.item_of(B)
    await person.map(world.listing_of(C), new)
    await person.undo(split)
    assert world.item_of(C) == new
    assert world.one("SELECT state FROM item WHERE item_id = %s", new) == ("active",)
    assert world.wrongs() == []


async def test_what_changed_since_is_named_and_left_alone_by_a_partial_undo(
    world: World, stages: Connection, person: Person
) -> None:
    for page in (A, B, C):
        await world.see(stages, product("Lamp", gtin=GTIN), url=page)
    await world.see(stages, product("Chair", gtin=THIRD), url=D)
    lamp, chair = world.item_of(A), world.item_of(D)
    split = await person.split(lamp, world.listing_of(B), world.listing_of(C))
    moved = await person.map(world.listing_of(C), chair)
    with pytest.raises(UndoConflict) as refused:
        await person.undo(split)
    (conflict,) = refused.value.parts
    assert (conflict["kind"], conflict["id"], conflict["changed_by"]) == (
        "mapping",
        world.listing_of(C),
        [moved.decision_id],
    )
    await person.undo(split, partial=True)
    assert (world.item_of(B), world.item_of(C)) == (lamp, chair)
    assert world.wrongs() == []


async def test_an_undo_can_be_undone(world: World, stages: Connection, person: Person) -> None:
    lamp, kettle, _ = await three_items(world, stages)
    merged = await person.merge(kettle, lamp)
    after = world.picture()
    undone = await person.undo(merged)
    await person.undo(undone)
    assert world.picture() == after
    await person.undo(merged)
    assert world.item_of(B) == kettle
    assert world.wrongs() == []


async def test_what_is_undone_cannot_be_undone_twice(world: World, stages: Connection, person: Person) -> None:
    lamp, kettle, _ = await three_items(world, stages)
    merged = await person.merge(kettle, lamp)
    undone = await person.undo(merged)
    with pytest.raises(UndoConflict) as refused:
        await person.undo(merged)
    assert refused.value.parts[0]["changed_by"] == [undone.decision_id]
    with pytest.raises(UndoConflict):
        await person.undo(merged, partial=True)


async def test_a_retried_undo_gets_the_first_result(world: World, stages: Connection, person: Person) -> None:
    lamp, kettle, _ = await three_items(world, stages)
    merged = await person.merge(kettle, lamp)
    asked = person.asked()
    first = await person.run(lambda: undoing.undo(person.conn, asked, merged.decision_id))
    again = await person.run(lambda: undoing.undo(person.conn, asked, merged.decision_id))
    assert again.repeated and again.events == first.events


async def test_a_rules_mapping_undone_becomes_a_question_and_is_not_redone(
    world: World, stages: Connection, person: Person
) -> None:
    await world.see(stages, product("Lamp", gtin=GTIN), url=A)
    mapped = await world.see(stages, product("Lamp", gtin=GTIN), url=B)
    await person.undo(mapped.decisions[0])
    assert world.one("SELECT item_id FROM mapping WHERE listing_id = %s", world.listing_of(B)) == (None,)
    assert (await world.see(stages, product("Lamp", gtin=GTIN, color="red"), url=B)).outcome == "case"
    assert world.one("SELECT item_id FROM mapping WHERE listing_id = %s", world.listing_of(B)) == (None,)
    assert world.wrongs() == []


async def test_a_rules_item_undone_is_retired_and_no_rule_makes_it_anew(
    world: World, stages: Connection, person: Person
) -> None:
    created = await world.see(stages, product("Lamp", gtin=GTIN), url=A)
    await person.undo(created.decisions[0])
    assert world.one("SELECT state FROM item") == ("retired",)
    assert (await world.see(stages, product("Lamp", gtin=GTIN, color="red"), url=A)).outcome == "case"
    assert world.one("SELECT count(*) FROM item") == (1,)
    assert world.wrongs() == []


async def test_what_sources_state_is_not_to_be_undone(world: World, stages: Connection, person: Person) -> None:
    await world.see(stages, product("Lamp", gtin=GTIN), url=A)
    recaptured = await world.see(stages, product("Lamp", gtin=GTIN, color="red"), url=A)
    with pytest.raises(NothingToUndo):
        await person.undo(recaptured.decisions[0])
    with pytest.raises(UnknownDecision):
        await person.undo("dec_none")


async def test_an_undone_answer_opens_its_case_again(
    world: World, stages: Connection, people: Connection, person: Person
) -> None:
    await world.see(stages, product("Acme Desk Lamp Nordic 40W", brand="Acme"), url=A)
    await world.see(stages, product("Acme Desk Lamp Nordic 40W", brand="Acme", mpn="NL-40X"), url=B)
    (case_id,) = world.one("SELECT case_id FROM review_case")
    for act in ("reject", "accept", "create"):
        revision = int(str(world.one("SELECT revision FROM review_case")[0]))
        overrules = tuple(str(row[0]) for row in world.rows("SELECT decision_id FROM verdict"))
        request = CaseRequest(world.stream, str(case_id), revision, f"answer-{act}", "ann", "so", overrules)
        async with people.transaction():
            if act == "accept":
                decided = await cases.accept(people, request, world.item_of(A))
            else:
                decided = await (cases.reject if act == "reject" else cases.create_item)(people, request)
        await person.undo(decided)
        assert world.one("SELECT state, count(*) FROM review_case GROUP BY 1") == ("open", 1)
        assert world.one("SELECT state FROM listing WHERE key = %s", B) == ("open",)
        assert world.wrongs() == []


async def test_pins_come_and_go(world: World, stages: Connection, person: Person) -> None:
    await world.see(stages, product("Lamp", color="red"), url=A)
    lamp = world.item_of(A)
    first = await person.pin(lamp, "color", text("blue"))
    second = await person.pin(lamp, "color", text("green"))
    await person.undo(second)
    assert "blue" in world.accepted(lamp)["color"]
    with pytest.raises(UndoConflict):
        await person.undo(second)
    withdrawn = await person.unpin(lamp, "color")
    assert "red" in world.accepted(lamp)["color"]
    await person.undo(withdrawn)
    assert "blue" in world.accepted(lamp)["color"]
    await person.undo(first)
    assert "red" in world.accepted(lamp)["color"]
    assert world.wrongs() == []


async def test_a_wrong_key_undone_counts_again(world: World, stages: Connection, person: Person) -> None:
    await world.see(stages, product("Lamp", gtin=GTIN), url=A)
    before = world.picture()
    said = await person.key_is_wrong(world.listing_of(A), f"gtin:{GTIN}")
    await person.undo(said)
    assert world.picture() == before
    assert world.wrongs() == []


async def test_a_guarded_value_returns_with_its_listing(world: World, stages: Connection, person: Person) -> None:
    lamp, kettle, _ = await three_items(world, stages)
    merged = await person.merge(kettle, lamp)
    before = world.picture()
    split = await person.split(lamp, world.listing_of(A))
    assert OTHER in world.accepted(lamp)["gtin"]
    await person.undo(split)
    assert world.picture() == before
    await person.undo(merged)
    assert world.wrongs() == []


async def test_a_rejected_listing_that_gave_way_does_not_return(
    world: World, stages: Connection, people: Connection, person: Person
) -> None:
    await world.see(stages, product("Acme Desk Lamp Nordic 40W", brand="Acme"), url=A)
    await world.see(stages, product("Acme Desk Lamp Nordic 40W", brand="Acme"), url=B)
    (case_id,) = world.one("SELECT case_id FROM review_case")
    async with people.transaction():
        rejected = await cases.reject(people, CaseRequest(world.stream, str(case_id), 1, "no", "ann", "no"))
    old = world.listing_of(B)
    assert (await world.see(stages, product("Kettle", gtin=GTIN), url=B)).outcome == "created"
    with pytest.raises(UndoConflict):
        await person.undo(rejected)
    with pytest.raises(Superseded):
        await person.map(old, world.item_of(A))
