"""kill -9 of a part, of the supervisor, or of everything: data is kept, nothing is left behind, nothing is shared."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
from assay_cli.stack import Stack, databases, leftovers, pids
from assay_cli.stack.pids import Pid
from assay_cli.stack.s3 import create_bucket
from assay_cli.stack.state import ProcessState
from assay_contracts.topics import topic
from assay_runtime.kafka import ensure_topics, make_producer
from assay_runtime.settings import KafkaSettings

_SECONDS = 60.0
_TOPIC = "resolution.job.v1"


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    made = Stack(tmp_path / "one")
    yield made
    made.down()


def _process(stack: Stack, name: str) -> ProcessState:
    state = stack.state()
    assert state is not None
    return state.processes[name]


def _pid(stack: Stack, name: str) -> Pid:
    found = pids.recorded(stack.layout.pid_file_of(name))
    assert found is not None
    return found


def _is_back(stack: Stack, name: str) -> bool:
    process = _process(stack, name)
    return process.restarts == 1 and process.condition == "ready"


def _write_mark(stack: Stack) -> None:
    place = stack.installation
    database = databases.create(place.postgres, place.credentials, "marked")
    with psycopg.connect(database.admin_dsn) as connection:
        connection.execute("CREATE TABLE mark AS SELECT 42 AS value")


def _read_mark(stack: Stack) -> object:
    with psycopg.connect(stack.installation.database("marked").admin_dsn) as connection:
        return connection.execute("SELECT value FROM mark").fetchone()


def test_a_killed_postgres_comes_back_with_its_data(stack: Stack) -> None:
    stack.up(only=["postgres"], owner_pid=os.getpid())
    _write_mark(stack)
    assert _pid(stack, "postgres").send(signal.SIGKILL)
    assert pids.wait_until(lambda: _is_back(stack, "postgres"), _SECONDS)
    assert _read_mark(stack) == (42,)


def test_a_killed_kafka_comes_back_with_its_topics(stack: Stack) -> None:
    place = stack.up(only=["kafka"], owner_pid=os.getpid())
    settings = KafkaSettings(kafka_bootstrap=place.kafka.bootstrap)
    ensure_topics(settings, [topic(_TOPIC)], replication=1)
    producer = make_producer(settings)
    producer.produce(_TOPIC, b"before")
    assert producer.flush(_SECONDS) == 0
    assert _pid(stack, "kafka").send(signal.SIGKILL)
    assert pids.wait_until(lambda: _is_back(stack, "kafka"), _SECONDS)
    producer.produce(_TOPIC, b"after")
    assert producer.flush(_SECONDS) == 0


def test_the_next_up_ends_what_a_killed_supervisor_left_and_keeps_the_data(stack: Stack) -> None:
    place = stack.up(only=["postgres", "s3"], owner_pid=os.getpid())
    _write_mark(stack)
    orphans = [_pid(stack, "postgres"), _pid(stack, "s3")]
    assert _pid(stack, leftovers.SUPERVISOR).send(signal.SIGKILL)
    assert pids.wait_until(lambda: stack.state() is None, _SECONDS)
    assert all(orphan.is_alive() for orphan in orphans)

    again = stack.up(only=["postgres", "s3"], owner_pid=os.getpid())
    assert not any(orphan.is_alive() for orphan in orphans)
    assert again.ports == place.ports
    assert _read_mark(stack) == (42,)


def test_down_after_a_killed_supervisor_leaves_nothing(stack: Stack) -> None:
    stack.up(only=["s3"], owner_pid=os.getpid())
    orphan = _pid(stack, "s3")
    assert _pid(stack, leftovers.SUPERVISOR).send(signal.SIGKILL)
    assert stack.down() == ["s3"]
    assert not orphan.is_alive()


def test_everything_killed_at_once_starts_again(stack: Stack) -> None:
    stack.up(only=["postgres", "s3"], owner_pid=os.getpid())
    _write_mark(stack)
    killed = [_pid(stack, name) for name in (leftovers.SUPERVISOR, "postgres", "s3")]
    for one in killed:
        assert one.send(signal.SIGKILL)
    assert pids.wait_until(lambda: not any(one.is_alive() for one in killed), _SECONDS)
    stack.up(only=["postgres", "s3"], owner_pid=os.getpid())
    assert _read_mark(stack) == (42,)


def test_two_homes_run_side_by_side(stack: Stack, tmp_path: Path) -> None:
    other = Stack(tmp_path / "two")
    try:
        one, two = (each.up(only=["s3"], owner_pid=os.getpid()) for each in (stack, other))
        assert not set(one.ports.values()) & set(two.ports.values())
        create_bucket(one.s3.endpoint, "only-here")
        assert httpx.head(f"{two.s3.endpoint}/only-here").status_code == httpx.codes.NOT_FOUND.value
        other.down()
        assert httpx.head(f"{one.s3.endpoint}/only-here").status_code == httpx.codes.OK.value
    finally:
        other.down()


def test_a_second_up_joins_the_first(stack: Stack) -> None:
    stack.up(only=["s3"], owner_pid=os.getpid())
    first = _pid(stack, "s3")
    stack.up(only=["s3"], owner_pid=os.getpid())
    assert _pid(stack, "s3") == first


def test_a_stack_ends_with_its_owner(stack: Stack) -> None:
    owner = os.posix_spawn("/bin/sleep", ["sleep", "600"], {})
    stack.up(only=["s3"], owner_pid=owner)
    server = _pid(stack, "s3")
    os.kill(owner, signal.SIGKILL)
    os.waitpid(owner, 0)
    assert pids.wait_until(lambda: not server.is_alive(), _SECONDS)
