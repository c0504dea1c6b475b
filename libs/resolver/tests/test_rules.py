"""The automatic rule, capture by capture, on a real database."""

import pytest
from assay_contracts.decoder import decode
from assay_resolver.streams import Connection, running_digest

from .world import World, product

GTIN = "04006381333931"
OTHER = "00012345678905"


async def test_a_first_page_creates_an_item_with_events_at_consecutive_positions(
    world: World, stages: Connection
) -> None:
    resolved = await world.see(stages, product("Lamp One", gtin=GTIN, price="9.5", currency="EUR"))
    assert resolved.outcome == "created"
    events = resolved.decisions[0].events
    assert [event.position for event in events] == list(range(1, len(events) + 1))
    assert [event.type for event in events][:2] == ["item.created", "mapping.set"]
    assert {event.type for event in events[2:]} == {"attribute.set"}


async def test_the_outbox_holds_valid_messages_and_the_cursor_their_running_digest(
    world: World, stages: Connection
) -> None:
    await world.see(stages, product("Lamp One", gtin=GTIN, price="9.5", currency="EUR"))
    digest = bytes(32)
    for position, event_id, value in world.rows("SELECT position, event_id, value FROM outbox ORDER BY position"):
        envelope = decode("catalog.event.v1", bytes(value))  # pyright: ignore[reportArgumentType]
        assert envelope.id == event_id
        digest = running_digest(digest, position, event_id, value)  # pyright: ignore[reportArgumentType]
    assert world.one("SELECT digest FROM cursor") == (digest,)


async def test_another_source_with_the_same_gtin_meets_in_one_item(world: World, stages: Connection) -> None:
    await world.see(stages, product("Lamp One", gtin=GTIN, price="9.5", currency="EUR"))
    resolved = await world.see(
        stages,
        product("Lamp 1", gtin=GTIN, price="8", currency="EUR"),
        source="src_other",
        url="https://other.example/l",
    )
    assert resolved.outcome == "mapped"
    assert world.one("SELECT count(*), count(DISTINCT item_id) FROM mapping") == (2, 1)
    assert world.one("SELECT count(*) FROM attribute WHERE name = 'offer' AND value IS NOT NULL") == (2,)


async def test_a_changed_price_revises_only_the_offer(world: World, stages: Connection) -> None:
    await world.see(stages, product("Lamp One", price="9.5", currency="EUR"))
    resolved = await world.see(stages, product("Lamp One", price="7", currency="EUR"))
    assert resolved.outcome == "changed"
    assert [(event.type, event.id.split("/")[1], event.revision) for event in resolved.decisions[0].events] == [
        ("attribute.set", "offer", 2)
    ]


async def test_a_page_that_says_the_same_again_changes_nothing(world: World, stages: Connection) -> None:
    page = product("Lamp One", price="9.5", currency="EUR")
    await world.see(stages, page)
    before = world.one("SELECT position FROM cursor")
    assert (await world.see(stages, page)).outcome == "unchanged"
    assert world.one("SELECT position FROM cursor") == before


async def test_an_older_page_that_comes_late_never_overwrites(world: World, stages: Connection) -> None:
    await world.see(stages, product("Lamp One", price="9.5", currency="EUR"), at=10)
    late = await world.see(stages, product("Lamp One", price="1", currency="EUR"), at=5)
    assert late.outcome == "kept"
    (value,) = world.one("SELECT value FROM attribute WHERE name = 'offer'")
    assert '"9.5"' in str(value)


async def test_what_a_later_page_omits_is_withdrawn(world: World, stages: Connection) -> None:
    await world.see(stages, product("Lamp One", color="red"))
    resolved = await world.see(stages, product("Lamp One"))
    assert [event.type for event in resolved.decisions[0].events] == ["attribute.cleared"]
    assert world.one("SELECT value, revision FROM attribute WHERE name = 'color'") == (None, 2)


async def test_another_gtin_on_a_known_page_is_a_question_and_changes_nothing(world: World, stages: Connection) -> None:
    await world.see(stages, product("Lamp One", gtin=GTIN))
    resolved = await world.see(stages, product("Lamp Two", gtin=OTHER))
    assert resolved.outcome == "case"
    assert world.one("SELECT kind, reason FROM review_case") == ("collision", "page_states_another_gtin")
    (name,) = world.one("SELECT value FROM attribute WHERE name = 'name'")
    assert "Lamp One" in str(name)


async def test_keys_that_lead_to_two_items_are_a_question(world: World, stages: Connection) -> None:
    await world.see(stages, product("Lamp", gtin=GTIN), url="https://shop.example/a")
    await world.see(stages, product("Chair", brand="Acme", mpn="AC-100"), url="https://shop.example/b")
    resolved = await world.see(
        stages, product("Both", gtin=GTIN, brand="Acme", mpn="AC100"), url="https://shop.example/c"
    )
    assert resolved.outcome == "case"
    assert world.one("SELECT reason FROM review_case") == ("keys_lead_to_several_items",)
    assert world.one("SELECT count(*) FROM case_ref WHERE type = 'item'") == (2,)


async def test_one_model_number_with_two_gtins_makes_two_items_and_a_shared_key(
    world: World, stages: Connection
) -> None:
    await world.see(stages, product("Lamp", brand="Acme", mpn="AC100", gtin=GTIN), url="https://shop.example/a")
    other = await world.see(
        stages, product("Lamp", brand="Acme", mpn="AC100", gtin=OTHER), url="https://shop.example/b"
    )
    assert other.outcome == "created"
    assert world.one("SELECT item_id FROM item_key WHERE kind = 'brand_mpn'") == (None,)
    third = await world.see(stages, product("Lamp", brand="Acme", mpn="AC100"), url="https://shop.example/c")
    assert third.outcome == "case"


async def test_pages_alike_without_a_key_are_a_question(world: World, stages: Connection) -> None:
    await world.see(stages, product("Acme Desk Lamp Nordic 40W", brand="Acme"), url="https://shop.example/a")
    resolved = await world.see(stages, product("Acme Desk Lamp Nordic 40W", brand="Acme"), url="https://shop.example/b")
    assert resolved.outcome == "case"
    assert world.one("SELECT kind, state FROM review_case") == ("match", "open")
    assert world.one("SELECT count(*) FROM candidate") == (1,)


async def test_an_empty_page_says_nothing(world: World, stages: Connection) -> None:
    assert (await world.see(stages, {})).outcome == "nothing"
    assert world.rows("SELECT 1 FROM decision") == []


async def test_a_page_that_is_gone_takes_its_offer_and_its_return_brings_it_back(
    world: World, stages: Connection
) -> None:
    page = product("Lamp One", price="9.5", currency="EUR")
    await world.see(stages, page)
    gone = await world.see(stages, {}, status=404)
    assert gone.outcome == "gone"
    assert world.one("SELECT value FROM attribute WHERE name = 'offer'") == (None,)
    assert (await world.see(stages, page)).outcome == "changed"
    assert world.one("SELECT revision FROM attribute WHERE name = 'offer'") == (3,)


async def test_a_rollback_consumes_no_position(world: World, stages: Connection) -> None:
    capture_id = world.capture(product("Lamp One", gtin=GTIN))
    with pytest.raises(RuntimeError):
        async with stages.transaction():
            await world.resolve(stages, capture_id)
            raise RuntimeError
    assert world.rows("SELECT 1 FROM outbox") == []
    resolved = await world.resolve(stages, capture_id)
    assert resolved.decisions[0].events[0].position == 1
