"""A person maps, clears, tells things apart and calls a key wrong; rules obey, and no listing is forgotten."""

import pytest
from assay_resolver import mappings, placing
from assay_resolver.errors import AlreadySo, Changed, ItemFull, VerdictStands, WrongKey
from assay_resolver.streams import Connection

from .deciding import Person, types
from .world import World, product

GTIN, OTHER = "04006381333931", "04006381333948"
A, B, C = (f"https://shop.example/{page}" for page in "abc")


async def two_items(world: World, stages: Connection) -> tuple[str, str]:
    """Two pages that nothing joins: their items."""
    await world.see(stages, product("Lamp", gtin=GTIN, price="9.5", currency="EUR"), url=A)
    await world.see(stages, product("Kettle", gtin=OTHER), url=B)
    return world.item_of(A), world.item_of(B)


async def test_a_person_moves_a_listing(world: World, stages: Connection, person: Person) -> None:
    lamp, kettle = await two_items(world, stages)
    assert types(await person.map(world.listing_of(B), lamp))[0] == "mapping.set"
    assert world.item_of(B) == lamp and world.accepted(kettle) == {}
    with pytest.raises(AlreadySo):
        await person.map(world.listing_of(B), lamp)
    assert world.wrongs() == []


async def test_a_cleared_listing_becomes_a_question_that_no_rule_answers(
    world: World, stages: Connection, person: Person
) -> None:
    lamp, _ = await two_items(world, stages)
    decided = await person.clear(world.listing_of(A))
    assert types(decided)[0] == "mapping.cleared"
    assert world.one("SELECT kind, reason, state FROM review_case") == ("match", "undone", "open")
    assert (await world.see(stages, product("Lamp", gtin=GTIN, color="red"), url=A)).outcome == "case"
    assert world.rows("SELECT 1 FROM mapping WHERE item_id = %s", lamp) == []
    assert world.wrongs() == []


async def test_mapping_again_what_was_cleared_overrules_the_verdict(
    world: World, stages: Connection, person: Person
) -> None:
    lamp, _ = await two_items(world, stages)
    cleared = await person.clear(world.listing_of(A))
    with pytest.raises(VerdictStands):
        await person.map(world.listing_of(A), lamp)
    await person.map(world.listing_of(A), lamp, cleared.decision_id)
    assert world.item_of(A) == lamp
    assert world.one("SELECT state FROM review_case") == ("withdrawn",)
    assert world.wrongs() == []


async def test_an_old_mapping_revision_is_told_what_happened_since(
    world: World, stages: Connection, person: Person
) -> None:
    lamp, kettle = await two_items(world, stages)
    listing = world.listing_of(B)
    moved = await person.map(listing, lamp)
    with pytest.raises(Changed) as refused:
        await person.run(lambda: mappings.set_mapping(person.conn, person.asked(), 1, listing, kettle))
    (change,) = refused.value.current["changes"]  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]
    assert change["decision"]["decision_id"] == moved.decision_id


async def test_what_differs_is_not_joined_by_rule(world: World, stages: Connection, person: Person) -> None:
    lamp, _ = await two_items(world, stages)
    await world.see(stages, product("Unlike anything"), url=C)
    await person.differ(world.listing_of(C), lamp)
    await person.clear(world.listing_of(C))
    assert (await world.see(stages, product("Lamp", gtin=GTIN), url=C)).outcome == "case"
    with pytest.raises(AlreadySo):
        await person.differ(lamp, world.listing_of(C))


async def test_what_is_one_item_is_split_before_it_differs(world: World, stages: Connection, person: Person) -> None:
    lamp, _ = await two_items(world, stages)
    with pytest.raises(Changed):
        await person.differ(world.listing_of(A), lamp)


async def test_a_wrong_key_counts_no_longer(world: World, stages: Connection, person: Person) -> None:
    lamp, _ = await two_items(world, stages)
    listing = world.listing_of(A)
    assert types(await person.key_is_wrong(listing, f"gtin:{GTIN}")) == ["attribute.cleared"]
    assert "gtin" not in world.accepted(lamp)
    assert world.rows("SELECT 1 FROM item_key WHERE value = %s", GTIN) == []
    await world.see(stages, product("Lamp", gtin=GTIN, color="red"), url=A)
    assert "gtin" not in world.accepted(lamp) and "color" in world.accepted(lamp)
    with pytest.raises(WrongKey):
        await person.key_is_wrong(listing, f"gtin:{GTIN}")
    assert world.wrongs() == []


async def test_an_item_has_a_thousand_listings_at_most(
    world: World, stages: Connection, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    lamp, kettle = await two_items(world, stages)
    monkeypatch.setattr(placing, "MAX_LISTINGS", 1)
    monkeypatch.setattr("assay_resolver.rules.MAX_LISTINGS", 1)
    for act in (lambda: person.map(world.listing_of(B), lamp), lambda: person.merge(kettle, lamp)):
        with pytest.raises(ItemFull):
            await act()
    assert (await world.see(stages, product("Lamp", gtin=GTIN), url=C)).outcome == "case"
    assert world.one("SELECT reason FROM review_case") == ("item_is_full",)
