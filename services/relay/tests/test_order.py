"""Several relays over many streams, killed, stopped and continued at random while decisions go on."""

import os
import random
import signal
import subprocess
import threading
import time

from assay_resolver.streams import Stream

from .world import Outbox, Processes, TopicLog, in_order, wait_until

STREAMS = int(os.environ.get("ASSAY_TEST_RELAY_STREAMS", "50"))
EVENTS = int(os.environ.get("ASSAY_TEST_RELAY_EVENTS", "6000"))
FAULTS = int(os.environ.get("ASSAY_TEST_RELAY_FAULTS", "8"))
SEED = int(os.environ.get("ASSAY_TEST_SEED", str(random.SystemRandom().randrange(2**32))))
WRITERS = 3


PUBLISHED = "SELECT COALESCE(sum(published), 0)::bigint FROM relay_stream"


def write(outbox: Outbox, streams: list[Stream], seed: int, events: int, over: threading.Event) -> None:
    """At least so many events, and decision after decision on streams of its own choice until the faults are over."""
    dice = random.Random(seed)
    with outbox.connect() as connection:
        while events > 0 or not over.is_set():
            count = dice.randint(1, 20)
            outbox.add(dice.choice(streams), count, connection=connection)
            events -= count
            over.wait(0.005)


def do_harm(processes: Processes, victims: list[subprocess.Popen[bytes]], dice: random.Random) -> None:
    """Kill one and start another, or stop one for longer than its lease and let it go on."""
    n = dice.randrange(len(victims))
    if dice.random() < 0.5:
        victims[n].kill()
        victims[n].wait()
        victims[n] = processes.start()
        return
    victims[n].send_signal(signal.SIGSTOP)
    stopped_at = time.monotonic()
    wait_until(lambda: time.monotonic() - stopped_at > 1.5, "the lease is over")
    victims[n].send_signal(signal.SIGCONT)


def test_relays_that_are_killed_and_stopped_keep_the_order(
    outbox: Outbox, topic_log: TopicLog, processes: Processes
) -> None:
    print(f"ASSAY_TEST_SEED={SEED}")  # noqa: T201 - the seed belongs to a failure's report
    dice = random.Random(SEED)
    streams = [outbox.stream(f"ten_{n % 10}", f"cat_{n}") for n in range(STREAMS)]
    over = threading.Event()
    victims = [processes.start(), processes.start()]
    writers = [
        threading.Thread(target=write, args=(outbox, streams, SEED + n, EVENTS // WRITERS, over))
        for n in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    for _ in range(FAULTS):
        seen = outbox.number(PUBLISHED)
        wait_until(lambda seen=seen: outbox.number(PUBLISHED) > seen, "work between two faults")
        do_harm(processes, victims, dice)
    over.set()
    for writer in writers:
        writer.join()
    wait_until(lambda: outbox.unpublished() == 0, "everything is marked")
    found = topic_log.positions()
    for stream, published in outbox.published().items():
        assert in_order(found[stream]), stream
        assert set(found[stream]) == set(range(1, published + 1)), stream
    assert outbox.held() == {}
