"""What is marked is in Kafka, what cannot be sent stops its own stream only, and repeats keep the order."""

import uuid

import psycopg
from assay_relay.errors import DeliveryRefused
from assay_relay.events import Relay
from assay_relay.outlet import Batch, Outlet, event_headers
from assay_relay.publish import Publisher
from assay_relay.settings import EventsSettings
from assay_runtime.kafka import message_headers

from .world import Outbox, Relays, TopicLog, event_value, in_order

CLOSED_PORT = "127.0.0.1:9"


class MarksBeforeAck(Publisher):
    """The mutant: takes everything it handed over for acknowledged."""

    def _acknowledged(self, wait_seconds: float) -> list[Batch]:
        super()._acknowledged(wait_seconds)
        return [portion.batch for portion in self._portions]


class MutantRelay(Relay):
    """A relay with that mutant in it."""

    def _make_publisher(self, settings: EventsSettings, outlet: Outlet) -> Publisher:
        return MarksBeforeAck(outlet, self.backlog, settings.relay_batch_events, settings.relay_batches_in_flight)


def marked_without_ack(outbox: Outbox, relays: Relays, kind: type[Relay]) -> bool:
    """Whether a relay that reaches no broker marks anything."""
    stream = outbox.stream("ten_a")
    outbox.add(stream, 10)
    hand = relays.make(kind=kind, kafka_bootstrap=CLOSED_PORT)
    hand.turn_until(lambda: hand.relay.backlog.entry(stream).sent == 10 if len(hand.relay.backlog) else True, "sent")
    for _ in range(20):
        hand.turn()
    return outbox.published()[stream] > 0


def test_nothing_is_marked_before_its_acknowledgement(outbox: Outbox, relays: Relays) -> None:
    assert not marked_without_ack(outbox, relays, Relay)


def test_a_relay_that_marks_before_the_acknowledgement_is_caught(outbox: Outbox, relays: Relays) -> None:
    assert marked_without_ack(outbox, relays, MutantRelay)


def test_leases_are_kept_while_kafka_is_away(outbox: Outbox, relays: Relays) -> None:
    outbox.add(outbox.stream("ten_a"), 10)
    hand = relays.make(kafka_bootstrap=CLOSED_PORT)
    hand.turn_until(lambda: hand.relay.publisher.silent_seconds > 2.0, "Kafka was silent for two leases")
    assert hand.relay.leases.are_valid
    assert outbox.number("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in%%'") == 0


def test_an_event_over_the_limit_holds_its_stream_only(outbox: Outbox, topic_log: TopicLog, relays: Relays) -> None:
    bad, good = outbox.stream("ten_bad"), outbox.stream("ten_good")
    outbox.add(bad, 3)
    outbox.add(bad, 1, size_bytes=300_000)
    outbox.add(bad, 3)
    outbox.add(good, 10)
    hand = relays.make()
    hand.turn_until(lambda: outbox.published().get(good) == 10, "the other stream goes on")
    hand.turn_until(lambda: outbox.published().get(bad) == 3, "what came before it is published")
    assert outbox.held() == {bad: "too_large"}
    assert topic_log.positions()[bad] == [1, 2, 3]


def test_an_event_that_the_broker_refuses_is_found_among_its_batch(
    outbox: Outbox, small_topic_log: TopicLog, relays: Relays
) -> None:
    bad, good = outbox.stream("ten_bad"), outbox.stream("ten_good")
    outbox.add(bad, 2)
    outbox.add(bad, 1, size_bytes=50_000)
    outbox.add(bad, 2)
    outbox.add(good, 10)
    hand = relays.make()
    hand.turn_until(lambda: bad in outbox.held(), "its stream is held")
    hand.turn_until(lambda: outbox.published().get(good) == 10, "the other stream goes on")
    assert outbox.held() == {bad: "msg_size_too_large"}
    assert outbox.published()[bad] == 2
    found = small_topic_log.positions()
    assert set(found[bad]) == {1, 2}
    assert in_order(found[bad])


def test_a_held_stream_goes_on_when_its_event_can_be_sent(outbox: Outbox, topic_log: TopicLog, relays: Relays) -> None:
    stream = outbox.stream("ten_a")
    outbox.add(stream, 2)
    outbox.add(stream, 1, size_bytes=300_000)
    hand = relays.make()
    hand.turn_until(lambda: stream in outbox.held(), "held")
    outbox.connection.execute("UPDATE outbox SET value = %s WHERE position = 3", [event_value(stream, 3, 200)])
    hand.relay.backlog.release_held()
    hand.turn_until(lambda: outbox.unpublished() == 0, "it goes on")
    assert outbox.held() == {}
    assert in_order(topic_log.positions()[stream])


def test_a_missing_position_holds_the_stream(outbox: Outbox, topic_log: TopicLog, relays: Relays) -> None:
    torn, whole = outbox.stream("ten_torn"), outbox.stream("ten_whole")
    outbox.add(torn, 5)
    outbox.add(whole, 5)
    outbox.connection.execute("DELETE FROM outbox WHERE tenant_id = 'ten_torn' AND position = 3")
    hand = relays.make()
    hand.turn_until(lambda: outbox.held() == {torn: "gap"} and outbox.published().get(whole) == 5, "held at the gap")
    assert outbox.published()[torn] == 2
    assert topic_log.positions()[torn] == [1, 2]


def test_a_refusal_repeats_from_the_mark_in_order(outbox: Outbox, topic_log: TopicLog, relays: Relays) -> None:
    stream = outbox.stream("ten_a")
    outbox.add(stream, 500)
    hand = relays.make(relay_batch_events=50)
    hand.turn_until(lambda: outbox.published().get(stream, 0) > 0, "under way")
    hand.relay.publisher.recover(hand.store, DeliveryRefused("_FATAL", permanent=False))
    hand.turn_until(lambda: outbox.unpublished() == 0, "everything published")
    found = topic_log.positions()[stream]
    assert in_order(found)
    assert set(found) == set(range(1, 501))


def test_what_kafka_acknowledged_is_marked_after_the_database_came_back(
    outbox: Outbox, topic_log: TopicLog, relays: Relays
) -> None:
    stream = outbox.stream("ten_a")
    outbox.add(stream, 10)
    hand = relays.make()
    hand.turn_until(lambda: outbox.published().get(stream) == 10, "published")
    outbox.add(stream, 10)
    outbox.connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'relay events'"
    )
    try:
        hand.turn()
    except psycopg.OperationalError:
        hand.store.close()
    hand.store = relays.store("first")
    hand.relay.restart(hand.store)
    hand.turn_until(lambda: outbox.unpublished() == 0, "published after the outage")
    assert in_order(topic_log.positions()[stream])


def test_event_headers_are_everybodys_headers() -> None:
    event_id = uuid.uuid4()
    assert event_headers(str(event_id)) == message_headers(event_id, "catalog.event/1", None)


def test_partitions_are_made_ahead(outbox: Outbox, relays: Relays) -> None:
    count = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'outbox'::regclass"
    before = outbox.number(count)
    relays.make(relay_partitions_ahead=before + 2).turn()
    assert outbox.number(count) > before
