"""What cannot be sent is refused in the decision's transaction, which leaves nothing."""

import pytest
from assay_resolver import decisions, settle
from assay_resolver.errors import EventTooLarge, TooManyEvents
from assay_resolver.streams import Connection

from .deciding import Person
from .world import World, product, text

A = "https://shop.example/a"


async def test_an_event_too_large_to_send_is_refused(
    world: World, stages: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settle, "MAX_LIST_BYTES", 10**9)
    told: list[tuple[object, ...]] = []
    with pytest.raises(EventTooLarge):
        for number in range(settle.MAX_LIST):
            told = world.rows("SELECT position FROM cursor") + world.rows("SELECT count(*) FROM outbox")
            category = {"category": text(f"{number:04}" + "€" * 1_996)}
            await world.see(stages, product("Lamp", gtin="04006381333931") | category, url=f"{A}{number}")
    assert world.rows("SELECT position FROM cursor") + world.rows("SELECT count(*) FROM outbox") == told


async def test_a_decision_changes_only_so_much(
    world: World, stages: Connection, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.see(stages, product("Lamp", gtin="04006381333931"), url=A)
    await world.see(stages, product("Kettle", gtin="04006381333948"), url=f"{A}b")
    head = world.one("SELECT position FROM cursor")
    monkeypatch.setattr(decisions, "MAX_EVENTS", 1)
    with pytest.raises(TooManyEvents):
        await person.merge(world.item_of(A), world.item_of(f"{A}b"))
    assert world.one("SELECT position FROM cursor") == head
