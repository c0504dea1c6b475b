"""One process is kept running, and asked to stop before it is made to."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from assay_cli.stack.child import Child
from assay_cli.stack.errors import MissingPart
from assay_cli.stack.keeper import Keeper
from assay_cli.stack.layout import Layout
from assay_cli.stack.pids import wait_until

_SECONDS = 20.0


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path)
    made.make()
    return made


@pytest.fixture
def keepers() -> Iterator[list[Keeper]]:
    started: list[Keeper] = []
    yield started
    for keeper in started:
        keeper.begin_stop()
        keeper.finish_stop()


def _keep(keepers: list[Keeper], layout: Layout, child: Child) -> Keeper:
    keeper = Keeper(child, layout)
    keepers.append(keeper)
    keeper.start()
    return keeper


def _child(program: str, *, ready: bool = True) -> Child:
    return Child("one", "part", [sys.executable, "-c", program], not_ready=lambda: None if ready else "not yet")


def test_what_dies_is_started_again(layout: Layout, keepers: list[Keeper]) -> None:
    keeper = _keep(keepers, layout, _child("import signal; signal.pause()"))
    assert wait_until(lambda: keeper.state.condition == "ready", _SECONDS)
    first = keeper.state.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert wait_until(lambda: keeper.state.restarts == 1 and keeper.state.condition == "ready", _SECONDS)
    assert keeper.state.pid not in (None, first)
    assert keeper.state.futile == 0


def test_what_never_serves_is_told_apart_from_what_died(layout: Layout, keepers: list[Keeper]) -> None:
    keeper = _keep(keepers, layout, _child("raise SystemExit(3)", ready=False))
    assert wait_until(lambda: keeper.state.futile >= 2, _SECONDS)
    assert wait_until(lambda: keeper.state.why == "exited with 3", _SECONDS)


def test_a_part_that_is_missing_is_named(layout: Layout, keepers: list[Keeper]) -> None:
    def refuse() -> None:
        raise MissingPart("the part is not installed")

    child = Child("one", "part", ["true"], not_ready=lambda: None, prepare=refuse)
    keeper = _keep(keepers, layout, child)
    assert wait_until(lambda: keeper.state.why == "the part is not installed", _SECONDS)


def test_a_stopped_process_had_time_to_finish(layout: Layout, keepers: list[Keeper]) -> None:
    program = """
import pathlib, signal, sys
def finish(*_): pathlib.Path("finished").touch(); sys.exit(0)
signal.signal(signal.SIGTERM, finish)
pathlib.Path("armed").touch()
while True: signal.pause()
"""
    keeper = _keep(keepers, layout, _child(program))
    assert wait_until((layout.run / "armed").exists, _SECONDS)
    keeper.begin_stop()
    keeper.finish_stop()
    assert (layout.run / "finished").exists()
    assert (keeper.state.condition, keeper.state.restarts) == ("ended", 0)
