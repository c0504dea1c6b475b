"""The commands for the local stack say what is wrong in words and by exit code."""

import os
from pathlib import Path

import pytest
from assay_cli.commands.process_table import news
from assay_cli.main import app
from assay_cli.stack import Stack
from assay_cli.stack.errors import NotReady
from assay_cli.stack.pids import Pid
from assay_cli.stack.state import ProcessState, State
from typer.testing import CliRunner


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("home")
def test_status_of_nothing_is_a_failure_that_says_what_to_type() -> None:
    answer = CliRunner().invoke(app, ["status", "--parts"])
    assert answer.exit_code == 1
    assert "assay up" in answer.output


@pytest.mark.usefixtures("home")
def test_down_of_nothing_is_no_failure() -> None:
    assert CliRunner().invoke(app, ["down"]).exit_code == 0


@pytest.mark.usefixtures("home")
def test_an_unknown_process_is_answered_with_those_there_are() -> None:
    answer = CliRunner().invoke(app, ["run", "nonsense"])
    assert answer.exit_code == 1
    assert "relay-events" in answer.output


def test_what_never_becomes_ready_is_named_with_the_reason(home: Path) -> None:
    stack = Stack(home)
    stack.layout.make()
    (stack.layout.data / "s3").touch()
    try:
        with pytest.raises(NotReady, match=r"s3: .*File exists"):
            stack.up(only=["s3"], owner_pid=os.getpid(), seconds=3)
    finally:
        stack.down()


def test_news_are_told_once() -> None:
    def state(*processes: ProcessState) -> State:
        return State(Pid(1, 1), "parts", ["s3"], processes={process.name: process for process in processes})

    starting = state(ProcessState("s3", "part", condition="starting"))
    ready = state(ProcessState("s3", "part", condition="ready"))
    assert news(None, starting) == []
    assert news(starting, ready) == ["s3: ready"]
    assert news(ready, ready) == []
