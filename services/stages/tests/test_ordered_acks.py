"""Offsets are acknowledged in order, and a hole is refused before it is committed over."""

import pytest
from assay_stages.errors import OffsetGap
from assay_stages.ordered_acks import OrderedAcks


class Acked:
    """Records what was acknowledged."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.acks = OrderedAcks[str](self.ack)

    async def ack(self, event: str) -> None:
        self.events.append(event)


async def test_what_finishes_first_waits_for_those_in_front() -> None:
    acked = Acked()
    acked.acks.begin(0, generation=1, first_offset=5)
    slow, quick, last = (acked.acks.take(0, offset, f"m{offset}") for offset in (5, 6, 7))
    await acked.acks.finish(quick)
    await acked.acks.finish(last)
    assert acked.events == []
    assert acked.acks.in_hand(0) == 3
    assert acked.acks.finished_in_hand(slow) == ["m6", "m7"]
    await acked.acks.finish(slow)
    assert acked.events == ["m5", "m6", "m7"]
    assert acked.acks.in_hand(0) == 0


async def test_partitions_do_not_wait_for_each_other() -> None:
    acked = Acked()
    acked.acks.begin(0, generation=1, first_offset=0)
    acked.acks.begin(1, generation=1, first_offset=0)
    acked.acks.take(0, 0, "slow")
    await acked.acks.finish(acked.acks.take(1, 0, "quick"))
    assert acked.events == ["quick"]


def test_a_first_message_behind_the_committed_offset_is_a_gap() -> None:
    acks = Acked().acks
    acks.begin(0, generation=1, first_offset=5)
    with pytest.raises(OffsetGap, match="expected offset 5, got 6"):
        acks.take(0, 6, "m6")


def test_a_message_that_skips_one_is_a_gap() -> None:
    acks = Acked().acks
    acks.begin(0, generation=1, first_offset=5)
    acks.take(0, 5, "m5")
    with pytest.raises(OffsetGap):
        acks.take(0, 7, "m7")


def test_a_repeat_may_go_back() -> None:
    acks = Acked().acks
    acks.begin(0, generation=1, first_offset=5)
    acks.take(0, 5, "m5")
    acks.take(0, 5, "m5 again")
    acks.take(0, 6, "m6")


async def test_a_message_of_an_earlier_generation_is_never_acknowledged() -> None:
    acked = Acked()
    acked.acks.begin(0, generation=1, first_offset=5)
    old = acked.acks.take(0, 5, "old")
    acked.acks.begin(0, generation=2, first_offset=5)
    new = acked.acks.take(0, 5, "new")
    await acked.acks.finish(old)
    assert acked.events == []
    assert acked.acks.finished_in_hand(old) == []
    await acked.acks.finish(new)
    assert acked.events == ["new"]
    assert acked.acks.is_begun(0, 2)
    assert not acked.acks.is_begun(0, 1)
