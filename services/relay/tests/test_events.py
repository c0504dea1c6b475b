"""The events process moves what decisions wrote, in order, and is gone politely when asked."""

import signal

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
