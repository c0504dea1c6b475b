"""What a process says about itself, asked over HTTP as a kubelet would."""

from collections.abc import Iterator
from http.client import HTTPConnection

import pytest
from assay_runtime.health import Health, OpsServer


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def health(clock: Clock) -> Health:
    return Health(stall_seconds=30, clock=clock)


@pytest.fixture
def server(health: Health) -> Iterator[OpsServer]:
    server = OpsServer("127.0.0.1", 0, health)
    yield server
    server.close()


def ask(server: OpsServer, path: str) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=5)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_a_starting_process_is_live_but_neither_started_nor_ready(server: OpsServer, clock: Clock) -> None:
    clock.now += 1000
    assert ask(server, "/livez")[0] == 200
    assert ask(server, "/startupz")[0] == 503
    assert ask(server, "/readyz")[0] == 503


def test_a_stalled_process_is_not_live(server: OpsServer, health: Health, clock: Clock) -> None:
    health.started()
    clock.now += 31
    assert ask(server, "/livez") == (503, '{"ok": false, "why": "no progress for 31 s"}')
    health.progress()
    assert ask(server, "/livez")[0] == 200


def test_a_process_without_its_dependency_is_live_and_says_what_it_waits_for(server: OpsServer, health: Health) -> None:
    health.started()
    health.ready(False, "waiting for Postgres")
    assert ask(server, "/livez")[0] == 200
    assert ask(server, "/readyz") == (503, '{"ok": false, "why": "waiting for Postgres"}')


def test_a_halted_process_is_live_not_ready_and_stays_so(server: OpsServer, health: Health, clock: Clock) -> None:
    health.started()
    health.ready(True)
    health.halt("the witness is ahead")
    health.ready(True)
    clock.now += 1000
    assert ask(server, "/livez")[0] == 200
    assert ask(server, "/readyz") == (503, '{"ok": false, "why": "halted: the witness is ahead"}')
    metrics = ask(server, "/metrics")[1]
    assert "assay_process_halted 1.0" in metrics
    assert "assay_process_ready 0.0" in metrics


def test_a_ready_process_says_so(server: OpsServer, health: Health) -> None:
    health.started()
    health.ready(True)
    assert ask(server, "/readyz")[0] == 200
    assert "assay_process_ready 1.0" in ask(server, "/metrics")[1]


def test_other_paths_are_not_found(server: OpsServer) -> None:
    assert ask(server, "/debug")[0] == 404
