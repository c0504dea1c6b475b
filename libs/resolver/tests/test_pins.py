"""A person's value stands on stored evidence, and no rule replaces it."""

import pytest
from assay_resolver.errors import UnknownAttribute, UnknownItem
from assay_resolver.lineage import explain_item
from assay_resolver.pins import PinRequest, pin_value
from assay_resolver.streams import Connection

from .world import World, code, product, text


def pin(world: World, item_id: str, name: str, value: dict[str, object], request_id: str = "pin-1") -> PinRequest:
    return PinRequest(world.stream, item_id, name, value, request_id, "ann", "the label says so")


async def lamp(world: World, stages: Connection) -> str:
    await world.see(stages, product("Lamp One", color="red"))
    (item_id,) = world.one("SELECT item_id FROM item")
    return str(item_id)


async def test_a_pin_replaces_the_rules_value_and_later_pages_do_not_replace_the_pin(
    world: World, stages: Connection, people: Connection
) -> None:
    item_id = await lamp(world, stages)
    async with people.transaction():
        decided = await pin_value(people, pin(world, item_id, "color", text("crimson")))
    assert [event.type for event in decided.events] == ["attribute.set"]
    await world.see(stages, product("Lamp One", color="blue"))
    assert world.one("SELECT value::json ->> 'text', by FROM attribute WHERE name = 'color'") == ("crimson", "person")


async def test_a_pin_leads_to_the_persons_statement(world: World, stages: Connection, people: Connection) -> None:
    item_id = await lamp(world, stages)
    request = pin(world, item_id, "color", text("crimson"))
    async with people.transaction():
        await pin_value(people, request)
        (lineage,) = await explain_item(people, world.stream, item_id, "color")
    assert lineage.decision["actor"] == "ann"
    assert lineage.support[0]["source_id"] == "src_people"
    assert lineage.support[0]["bytes"] == len(request.statement())


async def test_a_newer_pin_takes_the_older_ones_place(world: World, stages: Connection, people: Connection) -> None:
    item_id = await lamp(world, stages)
    for number, color in enumerate(("crimson", "scarlet")):
        async with people.transaction():
            await pin_value(people, pin(world, item_id, "color", text(color), f"pin-{number}"))
    assert world.one("SELECT count(*), count(withdrawn_by) FROM pin") == (2, 1)
    assert world.one("SELECT value::json ->> 'text' FROM attribute WHERE name = 'color'") == ("scarlet",)


async def test_a_retried_pin_gets_its_first_result(world: World, stages: Connection, people: Connection) -> None:
    item_id = await lamp(world, stages)
    request = pin(world, item_id, "color", text("crimson"))
    async with people.transaction():
        first = await pin_value(people, request)
    async with people.transaction():
        again = await pin_value(people, request)
    assert again.repeated and again.decision_id == first.decision_id


@pytest.mark.parametrize(
    ("name", "value"), [("color", code("red")), ("gtin", code("04006381333931")), ("shoe", text("x")), ("color", {})]
)
async def test_a_pin_of_another_type_is_refused(
    world: World, people: Connection, name: str, value: dict[str, object]
) -> None:
    with pytest.raises(UnknownAttribute):
        await pin_value(people, pin(world, "item_x", name, value))


async def test_a_pin_on_an_unknown_item_is_refused(world: World, people: Connection) -> None:
    with pytest.raises(UnknownItem):
        async with people.transaction():
            await pin_value(people, pin(world, "item_x", "color", text("red")))


async def test_a_request_id_serves_one_pin_in_each_catalog(
    world: World, stages: Connection, people: Connection
) -> None:
    for one in (world, World(world.admin, catalog="cat_other").found()):
        await one.see(stages, product("Lamp One", color="red"))
        (item_id,) = one.one("SELECT item_id FROM item WHERE catalog_id = %s", one.catalog)
        async with people.transaction():
            await pin_value(people, pin(one, str(item_id), "color", text("crimson"), "pin-same"))
    assert world.one("SELECT count(*), count(DISTINCT catalog_id) FROM pin") == (2, 2)
