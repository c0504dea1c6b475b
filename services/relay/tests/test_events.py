"""The events process moves what decisions wrote, in order, and is gone politely when asked."""

import signal

import pytest
from assay_runtime.failpoints import EXIT_STATUS

from .world import Outbox, Processes, TopicLog, in_order, wait_until


def test_events_reach_kafka_in_position_order(outbox: Outbox, topic_log: TopicLog, processes: Processes) -> None:
    streams = [outbox.stream(f"ten_{n}") for n in range(5)]
    for stream in streams:
        outbox.add(stream, 30)
    process = processes.start()
    for stream in streams:
        outbox.add(stream, 30)
    wait_until(lambda: outbox.unpublished() == 0, "everything published")
    found = topic_log.positions()
    assert found.keys() == set(streams)
    assert all(in_order(positions) and max(positions) == 60 for positions in found.values())
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0
    assert outbox.number("SELECT count(*) FROM relay_owner") == 0


@pytest.mark.parametrize("name", ["relay.after_claim", "relay.after_publish", "relay.after_mark"])
def test_a_relay_that_dies_between_two_effects_loses_nothing(
    name: str, outbox: Outbox, topic_log: TopicLog, processes: Processes
) -> None:
    stream = outbox.stream("ten_a")
    outbox.add(stream, 50)
    assert processes.start(failpoints=f"{name}=exit").wait(60) == EXIT_STATUS
    processes.start()
    outbox.add(stream, 50)
    wait_until(lambda: outbox.unpublished() == 0, "published by the successor")
    found = topic_log.positions()[stream]
    assert in_order(found)
    assert set(found) == set(range(1, 101))


def test_a_graceful_stop_under_load_repeats_nothing(outbox: Outbox, topic_log: TopicLog, processes: Processes) -> None:
    stream = outbox.stream("ten_a")
    process = processes.start(relay_batch_events="20")
    for _ in range(40):
        outbox.add(stream, 20)
    wait_until(lambda: outbox.published().get(stream, 0) > 0, "under way")
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    processes.start()
    wait_until(lambda: outbox.unpublished() == 0, "the successor did the rest")
    assert topic_log.positions()[stream] == list(range(1, 801))
