"""Merge, split, retire, revive: what moves, what rests, what is refused, and that a retry decides nothing twice."""

import pytest
from assay_resolver import items
from assay_resolver.errors import AlreadySo, Changed, NotInItem, RequestReused, UnknownItem, VerdictStands
from assay_resolver.streams import Connection

from .deciding import Person, types
from .world import World, product, text

GTIN, OTHER = "04006381333931", "04006381333948"
A, B, C = (f"https://shop.example/{page}" for page in "abc")


async def two_items(world: World, stages: Connection) -> tuple[str, str]:
    """Two pages that nothing joins: their items."""
    await world.see(stages, product("Lamp", gtin=GTIN, price="9.5", currency="EUR", color="red"), url=A)
    await world.see(stages, product("Kettle", gtin=OTHER, price="5", currency="EUR"), url=B)
    return world.item_of(A), world.item_of(B)


async def test_merged_listings_move_and_keep_their_home(world: World, stages: Connection, person: Person) -> None:
    lamp, kettle = await two_items(world, stages)
    decided = await person.merge(kettle, lamp)
    assert types(decided)[0] == "mapping.set" and types(decided)[-1] == "item.merged"
    assert world.one("SELECT item_id, home_item_id FROM mapping WHERE home_item_id = %s", kettle) == (lamp, kettle)
    assert world.one("SELECT state, merged_into FROM item WHERE item_id = %s", kettle) == ("merged", lamp)
    assert world.wrongs() == []


async def test_no_offer_is_touched_by_a_merge(world: World, stages: Connection, person: Person) -> None:
    lamp, kettle = await two_items(world, stages)
    before = world.rows("SELECT owner_id, revision FROM attribute WHERE name = 'offer' ORDER BY 1")
    await person.merge(kettle, lamp)
    assert world.rows("SELECT owner_id, revision FROM attribute WHERE name = 'offer' ORDER BY 1") == before


async def test_values_of_a_merged_item_rest(world: World, stages: Connection, person: Person) -> None:
    lamp, kettle = await two_items(world, stages)
    before = world.accepted(kettle)
    await person.merge(kettle, lamp)
    assert world.accepted(kettle) == before


async def test_a_guarded_value_is_not_joined_by_a_merge(world: World, stages: Connection, person: Person) -> None:
    lamp, kettle = await two_items(world, stages)
    before = world.accepted(lamp)["gtin"]
    await person.merge(kettle, lamp)
    assert world.accepted(lamp)["gtin"] == before


async def test_a_page_seen_later_is_the_root(world: World, stages: Connection, person: Person) -> None:
    lamp, kettle = await two_items(world, stages)
    await person.merge(kettle, lamp)
    assert (await world.see(stages, product("Kettle two", gtin=OTHER), url=C)).outcome == "mapped"
    assert world.item_of(C) == lamp
    assert world.wrongs() == []


async def test_the_roots_pin_comes_before_that_of_a_merged_item(
    world: World, stages: Connection, person: Person
) -> None:
    lamp, kettle = await two_items(world, stages)
    await person.pin(kettle, "color", text("blue"))
    await person.pin(kettle, "material", text("steel"))
    await person.pin(lamp, "color", text("green"))
    await person.merge(kettle, lamp)
    accepted = world.accepted(lamp)
    assert "green" in accepted["color"] and "steel" in accepted["material"]
    assert world.wrongs() == []


async def test_only_roots_merge_and_only_into_what_is_shown(world: World, stages: Connection, person: Person) -> None:
    lamp, kettle = await two_items(world, stages)
    await person.retire(lamp)
    with pytest.raises(UnknownItem):
        await person.merge(kettle, lamp)
    await person.merge(lamp, kettle)
    with pytest.raises(AlreadySo):
        await person.merge(lamp, kettle)
    with pytest.raises(AlreadySo):
        await person.merge(kettle, lamp)


async def test_an_old_revision_is_told_what_happened_since(world: World, stages: Connection, person: Person) -> None:
    lamp, kettle = await two_items(world, stages)
    seen = person.seen(lamp, kettle)
    retired = await person.retire(kettle)
    with pytest.raises(Changed) as refused:
        await person.run(lambda: items.merge(person.conn, person.asked(), seen, kettle, lamp))
    shown = {one["item_id"]: one for one in refused.value.current["items"]}  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]
    assert shown[kettle]["state"] == "retired" and shown[lamp]["changes"] == []
    (change,) = shown[kettle]["changes"]  # pyright: ignore[reportUnknownVariableType]
    assert change["decision"]["decision_id"] == retired.decision_id


async def test_a_retry_gets_the_first_result(world: World, stages: Connection, person: Person) -> None:
    lamp, kettle = await two_items(world, stages)
    asked, seen = person.asked(), person.seen(lamp, kettle)
    first = await person.run(lambda: items.merge(person.conn, asked, seen, kettle, lamp))
    again = await person.run(lambda: items.merge(person.conn, asked, {**seen, kettle: 2}, kettle, lamp))
    assert again.repeated and again.events == first.events
    with pytest.raises(RequestReused):
        await person.run(lambda: items.merge(person.conn, asked, seen, lamp, kettle))


async def test_a_verdict_is_overruled_by_its_name_only(world: World, stages: Connection, person: Person) -> None:
    lamp, kettle = await two_items(world, stages)
    said = await person.differ(lamp, kettle)
    with pytest.raises(VerdictStands) as refused:
        await person.merge(kettle, lamp)
    assert [one["decision_id"] for one in refused.value.verdicts] == [said.decision_id]
    await person.merge(kettle, lamp, said.decision_id)
    assert world.rows("SELECT 1 FROM verdict WHERE withdrawn_by IS NULL") == []


async def test_a_verdict_holds_across_both_trees(world: World, stages: Connection, person: Person) -> None:
    lamp, kettle = await two_items(world, stages)
    await world.see(stages, product("Chair"), url=C)
    chair = world.item_of(C)
    await person.differ(world.listing_of(C), kettle)
    await person.merge(kettle, lamp)
    with pytest.raises(VerdictStands):
        await person.merge(chair, lamp)


async def three_pages(world: World, stages: Connection) -> str:
    """One item of three pages."""
    for page, color in ((A, "red"), (B, "red"), (C, "blue")):
        await world.see(stages, product("Lamp", gtin=GTIN, color=color, price="1", currency="EUR"), url=page)
    return world.item_of(A)


async def test_a_split_makes_an_item_and_a_verdict(world: World, stages: Connection, person: Person) -> None:
    lamp = await three_pages(world, stages)
    decided = await person.split(lamp, world.listing_of(C))
    assert types(decided)[:2] == ["item.created", "mapping.set"]
    assert world.item_of(C) != lamp
    assert "blue" in world.accepted(world.item_of(C))["color"]
    assert world.one("SELECT count(*) FROM verdict WHERE withdrawn_by IS NULL") == (1,)
    assert world.one("SELECT item_id FROM item_key") == (None,)
    assert world.wrongs() == []


async def test_a_split_leaves_some_and_takes_some(world: World, stages: Connection, person: Person) -> None:
    lamp = await three_pages(world, stages)
    every = [world.listing_of(page) for page in (A, B, C)]
    for chosen in ([], every, [every[0], "lst_of_nobody"]):
        with pytest.raises(NotInItem):
            await person.split(lamp, *chosen)


async def test_retiring_hides_and_settling_goes_on(world: World, stages: Connection, person: Person) -> None:
    lamp = await three_pages(world, stages)
    assert types(await person.retire(lamp, "not_a_product")) == ["item.retired"]
    later = await world.see(stages, product("Lamp", gtin=GTIN, color="green", price="2", currency="EUR"), url=A)
    assert later.outcome == "changed"
    assert world.wrongs() == []
    with pytest.raises(AlreadySo):
        await person.retire(lamp)


async def test_reviving_takes_in_what_waited_for_the_item(world: World, stages: Connection, person: Person) -> None:
    lamp = await three_pages(world, stages)
    await person.retire(lamp)
    waiting = await world.see(stages, product("Lamp", gtin=GTIN), url="https://shop.example/d")
    assert waiting.outcome == "case"
    assert types(await person.revive(lamp))[:2] == ["item.changed", "mapping.set"]
    assert world.one("SELECT state FROM review_case") == ("withdrawn",)
    assert world.wrongs() == []
