"""One process runs alone on the caller's settings, or on those of a stack that runs."""

import sys
from pathlib import Path

import pytest
from assay_cli.stack import Stack, StackError, alone
from assay_cli.stack.processes import PROCESSES


def test_the_caller_s_settings_are_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DSN", "postgresql://somewhere/else")
    command, environment = alone.prepare(Stack(tmp_path), PROCESSES["relay-jobs"])
    assert command == [sys.executable, "-m", "assay_relay", "jobs"]
    assert environment["ASSAY_DSN"] == "postgresql://somewhere/else"
    assert not (tmp_path / "ports.json").exists()


def test_without_settings_and_stack_the_way_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_DSN", raising=False)
    with pytest.raises(StackError, match="assay up"):
        alone.prepare(Stack(tmp_path), PROCESSES["intake"])
