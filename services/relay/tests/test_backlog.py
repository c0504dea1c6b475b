"""Fairness, decided without any part: who is next, and with how many events."""

from assay_relay.backlog import LEAST_SHARE, Backlog
from assay_relay.store import Mark, StreamRow
from assay_resolver.streams import Stream

TERMS = {0: 1}


def stream(tenant: str, catalog: str = "cat_a") -> Stream:
    """A stream of the only epoch."""
    return Stream(tenant, catalog, "history-1")


def filled(*counts: tuple[Stream, int]) -> Backlog:
    """A backlog that knows so many events of each."""
    backlog = Backlog()
    backlog.learn([StreamRow(each, 0, 0, 0, count) for each, count in counts], TERMS)
    return backlog


def send(backlog: Backlog, events: int) -> dict[Stream, int]:
    """Pick, and hand over all that was picked."""
    portion = backlog.pick(events)
    for want in portion.wants:
        backlog.entry(want.stream).sent = want.until
    backlog.requeue(portion.wants)
    return {want.stream: want.until - want.after for want in portion.wants}


def test_a_large_backlog_does_not_delay_a_small_one() -> None:
    large, small = stream("ten_large"), stream("ten_small")
    backlog = filled((large, 1_000_000), (small, 3))
    assert send(backlog, 1000) == {large: 500, small: 3}


def test_a_lone_stream_gets_the_whole_portion() -> None:
    assert send(filled((stream("ten_a"), 5000)), 1000) == {stream("ten_a"): 1000}


def test_tenants_take_turns_whatever_their_number_of_streams() -> None:
    many = [(stream("ten_many", f"cat_{n}"), 10_000) for n in range(300)]
    backlog = filled(*many, (stream("ten_one"), 10_000))
    sent = [send(backlog, 10 * LEAST_SHARE) for _ in range(3)]
    assert all(stream("ten_one") in portion for portion in sent[:1])
    assert sum(stream("ten_one") in portion for portion in sent) == len(sent)


def test_every_stream_is_served_in_turn() -> None:
    streams = [stream("ten_a", f"cat_{n}") for n in range(10)]
    backlog = filled(*[(each, 100_000) for each in streams])
    served: list[Stream] = []
    for _ in range(5):
        served += send(backlog, 2 * LEAST_SHARE)
    assert served == streams


def test_a_held_stream_is_passed_over_until_released() -> None:
    held, other = stream("ten_a", "cat_a"), stream("ten_a", "cat_b")
    backlog = filled((held, 10), (other, 10))
    backlog.hold(backlog.entry(held), "gap")
    assert send(backlog, 1000) == {other: 10}
    backlog.hear(held, 20)
    assert send(backlog, 1000) == {}
    backlog.release_held()
    assert send(backlog, 1000) == {held: 20}


def test_a_suspected_event_travels_alone() -> None:
    suspect, other = stream("ten_a"), stream("ten_b")
    backlog = filled((suspect, 10), (other, 10))
    backlog.entry(suspect).alone_until = 2
    portion = backlog.pick(1000)
    assert portion.alone
    assert [(want.stream, want.until) for want in portion.wants] == [(suspect, 1)]


def test_nothing_is_forgotten_before_its_mark() -> None:
    each = stream("ten_a")
    backlog = filled((each, 10))
    send(backlog, 1000)
    backlog.rewind()
    assert send(backlog, 1000) == {each: 10}
    backlog.mark([Mark(each, 1, 10, 10)])
    assert len(backlog) == 0


def test_a_mark_of_another_term_is_not_counted() -> None:
    each = stream("ten_a")
    backlog = filled((each, 10))
    backlog.mark([Mark(each, 7, 10, 10)])
    assert backlog.depth == 10


def test_streams_of_foreign_buckets_are_left_alone() -> None:
    backlog = Backlog()
    assert backlog.learn([StreamRow(stream("ten_a"), 5, 0, 0, 10)], TERMS) == []
    assert not backlog.pick(10).wants
