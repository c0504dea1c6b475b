"""Positions, marks and start offsets, decided without a database."""

from dataclasses import replace

import pytest
from assay_product.assignment import start_offset
from assay_product.deliveries import Incoming, read
from assay_product.generation import Cursor, Mark, advance, sort_out
from assay_product.parking import Need, needs, plan
from assay_product.projection import Ref
from confluent_kafka import OFFSET_BEGINNING

from .stories import EPOCH, Story


def _incoming(told: Story, *positions: int) -> list[Incoming]:
    found = [read(delivery, EPOCH) for delivery in told.deliveries(*positions)]
    return [one for one in found if isinstance(one, Incoming)]


def _told() -> Story:
    told = Story()
    told.product(1)
    return told


@pytest.mark.parametrize(
    ("own", "committed", "start"),
    [(7, 9, 7), (9, 7, 7), (9, 0, 0), (9, -1001, 9), (None, 9, OFFSET_BEGINNING), (None, -1001, OFFSET_BEGINNING)],
)
def test_reading_begins_at_the_lower_offset(own: int | None, committed: int, start: int) -> None:
    assert start_offset(own, committed) == start


def test_an_event_needs_its_own_revision_before_it() -> None:
    told = _told()
    told.name("item_1", "Again")
    assert needs(told.events[-1]) == [Need(Ref("attribute", "item_1/name"), 1), Need(Ref("item", "item_1"), 1)]


def test_progress_stops_at_the_first_hole() -> None:
    told = _told()
    marks = {one.event.position: Mark(one.event_id, one.sha256) for one in _incoming(told, 1, 2, 4)}
    moved = advance(Cursor(told.catalog, 1, EPOCH), marks)
    assert moved.progress == 2
    assert moved.digest != bytes(32)


def test_a_position_below_progress_is_dropped_without_the_inbox() -> None:
    told = _told()
    cursor = replace(Cursor(told.catalog, 1, EPOCH), progress=3, highest=3, processed=3)
    found = sort_out(_incoming(told, 1, 2, 3, 4), cursor, {})
    assert [one.event.position for one in found.repeated] == [1, 2, 3]
    assert [one.event.position for one in found.fresh] == [4]


def test_one_event_at_two_positions_halts() -> None:
    told = _told()
    (first,) = _incoming(told, 1)
    found = sort_out([first], Cursor(told.catalog, 1, EPOCH), {5: first.event_id})
    assert found.contradicting == [first]
    assert found.halted is not None
    assert "was offered at 1" in found.halted


def test_a_late_revision_is_ignored() -> None:
    told = _told()
    (created,) = _incoming(told, 1)
    made = plan([created], {Ref("item", "item_1"): 4})
    assert (made.ignored, made.applied) == ([created], [])


def test_events_of_one_batch_release_one_another() -> None:
    told = _told()
    made = plan(reversed(_incoming(told)), {})
    assert len(made.applied) == len(told.events)
    assert made.parked == []
