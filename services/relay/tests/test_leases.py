"""Leases: shared fairly, lost only by the database's clock, and every term has a name of its own."""

from assay_relay.leases import Leases
from assay_relay.store import Mark

from .world import Outbox, Relays, TopicLog, wait_until

BUCKETS = 64


def test_one_relay_takes_everything_and_two_share(outbox: Outbox, relays: Relays) -> None:
    first, second = relays.make("first"), relays.make("second")
    first.turn()
    assert len(first.relay.leases.terms) == BUCKETS

    def shared() -> bool:
        first.turn()
        second.turn()
        return len(first.relay.leases.terms) == len(second.relay.leases.terms) == BUCKETS // 2

    wait_until(shared, "half each")
    assert not first.relay.leases.terms.keys() & second.relay.leases.terms.keys()
    assert outbox.number("SELECT count(DISTINCT owner) FROM relay_bucket") == 2


def test_a_silent_owner_is_buried_and_its_terms_end(outbox: Outbox, topic_log: TopicLog, relays: Relays) -> None:
    first, second = relays.make("first"), relays.make("second")
    stream = outbox.stream("ten_a")
    first.turn()
    terms = dict(first.relay.leases.terms)
    second.turn_until(lambda: len(second.relay.leases.terms) == BUCKETS, "taken over after the lease")
    assert all(term > terms[bucket] for bucket, term in second.relay.leases.terms.items())
    outbox.add(stream, 5)
    second.turn_until(lambda: outbox.unpublished() == 0, "published by the successor")


def test_a_mark_of_an_ended_term_changes_nothing(outbox: Outbox, relays: Relays) -> None:
    stream = outbox.stream("ten_a")
    outbox.add(stream, 3)
    first = relays.store("first")
    leases = Leases("first", 60.0)
    leases.keep(first)
    first.register_streams([stream])
    outbox.connection.execute("UPDATE relay_bucket SET owner = NULL")
    outbox.connection.execute("UPDATE relay_bucket SET lease_epoch = lease_epoch + 1, owner = 'first'")
    old_term = next(iter(leases.terms.values()))
    first.mark_published([Mark(stream, old_term, 3, 3)])
    assert outbox.published()[stream] == 0
    first.mark_published([Mark(stream, old_term + 1, 3, 3)])
    assert outbox.published()[stream] == 3
    first.mark_published([Mark(stream, old_term + 1, 2, 2)])
    assert outbox.published()[stream] == 3
    first.close()


def test_a_renewed_owner_is_not_buried(outbox: Outbox, relays: Relays) -> None:
    store = relays.store("first")
    store.renew_owner(0.0)
    store.renew_owner(60.0)
    store.bury_owners()
    assert store.count_owners() == 1
    store.renew_owner(0.0)
    store.bury_owners()
    assert outbox.number("SELECT count(*) FROM relay_owner") == 0
    store.close()


def test_leaving_frees_every_bucket_at_once(outbox: Outbox, relays: Relays) -> None:
    first = relays.make("first")
    first.turn()
    first.relay.leases.leave(first.store)
    assert outbox.number("SELECT count(*) FROM relay_bucket WHERE owner IS NOT NULL") == 0


def test_buckets_are_stored_and_spread(outbox: Outbox, relays: Relays) -> None:
    store = relays.store("first")
    streams = [outbox.stream(f"ten_{n}") for n in range(200)]
    store.register_streams(streams)
    store.register_streams(streams)
    assert outbox.number("SELECT count(*) FROM relay_stream") == len(streams)
    assert outbox.number("SELECT count(DISTINCT bucket) FROM relay_stream") > BUCKETS // 2
    assert outbox.number("SELECT count(*) FROM relay_stream WHERE bucket NOT BETWEEN 0 AND 63") == 0
    store.close()
