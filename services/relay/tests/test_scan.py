"""The scan misses nothing that becomes visible late, and forgets what never will."""

import psycopg
from assay_relay.scan import Scan
from assay_resolver.streams import Stream
from psycopg.rows import TupleRow

from .world import Outbox, Relays, TopicLog, wait_until


def seen(scan: Scan, relays: Relays) -> set[Stream]:
    """What one turn finds."""
    store = relays.store("first")
    try:
        return set(scan.turn(store))
    finally:
        store.close()


def begin(outbox: Outbox, stream: Stream) -> psycopg.Connection[TupleRow]:
    """A decision that has its outbox ids and has not committed."""
    conn = psycopg.connect(outbox.admin_dsn)
    conn.execute("SELECT 1")
    outbox.add(stream, 2, connection=conn)
    return conn


def test_a_row_that_commits_after_higher_ids_is_found(outbox: Outbox, relays: Relays) -> None:
    slow, quick = outbox.stream("ten_slow"), outbox.stream("ten_quick")
    scan = Scan()
    seen(scan, relays)
    with begin(outbox, slow) as writer:
        outbox.add(quick)
        assert seen(scan, relays) == {quick}
        assert seen(scan, relays) == set()
        writer.commit()
    assert slow in seen(scan, relays)


def test_a_stuck_writer_hides_nobody_else(outbox: Outbox, relays: Relays) -> None:
    slow, quick = outbox.stream("ten_slow"), outbox.stream("ten_quick")
    scan = Scan()
    seen(scan, relays)
    with begin(outbox, slow) as writer:
        for _ in range(5):
            outbox.add(quick)
            assert seen(scan, relays) == {quick}
        writer.rollback()


def test_ids_that_were_rolled_back_are_forgotten(outbox: Outbox, relays: Relays) -> None:
    stream = outbox.stream("ten_a")
    scan = Scan()
    seen(scan, relays)
    with begin(outbox, stream) as writer:
        writer.rollback()
    outbox.add(stream)
    assert seen(scan, relays) == {stream}
    assert scan.open_gaps == 1

    def forgotten() -> bool:
        seen(scan, relays)
        return scan.open_gaps == 0

    wait_until(forgotten, "the barrier passed")


def test_events_committed_while_a_relay_starts_are_found(outbox: Outbox, topic_log: TopicLog, relays: Relays) -> None:
    stream = outbox.stream("ten_a")
    with begin(outbox, stream) as writer:
        hand = relays.make()
        for _ in range(5):
            hand.turn()
        writer.commit()
    hand.turn_until(lambda: outbox.published().get(stream) == 2, "published after the start barrier")
