"""A process is known by pid and start time, from before it becomes what it is."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from assay_cli.stack import pids
from assay_cli.stack.pids import Pid

_SLEEPER = [sys.executable, "-c", "import signal; signal.pause()"]
_DEAF = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
while True:
    signal.pause()
"""
_STUBBORN = [sys.executable, "-c", _DEAF]


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(pids.recording(tmp_path / "sleeper.stat", _SLEEPER)) as process:
        yield process
        process.kill()


def test_a_process_records_itself(sleeper: subprocess.Popen[bytes], tmp_path: Path) -> None:
    assert pids.wait_until(lambda: pids.recorded(tmp_path / "sleeper.stat") is not None, 10)
    found = pids.recorded(tmp_path / "sleeper.stat")
    assert found == pids.running(sleeper.pid)


def test_a_pid_used_again_is_another_process(sleeper: subprocess.Popen[bytes]) -> None:
    now = pids.running(sleeper.pid)
    assert now is not None
    earlier = Pid(now.pid, now.started_tick - 1)
    assert not earlier.is_alive()
    assert not earlier.send(signal.SIGKILL)
    assert now.is_alive()


def test_a_process_that_nobody_reaped_counts_as_gone(sleeper: subprocess.Popen[bytes]) -> None:
    now = pids.running(sleeper.pid)
    assert now is not None
    pids.end(now, signal.SIGTERM, 10)
    assert not now.is_alive()
    assert sleeper.returncode is None


def test_a_process_that_will_not_stop_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(_STUBBORN, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"deaf\n"
        now = pids.running(process.pid)
        assert now is not None
        pids.end(now, signal.SIGTERM, 0.2)
        assert process.wait(10) == -signal.SIGKILL


def test_nothing_recorded_is_nobody(tmp_path: Path) -> None:
    assert pids.recorded(tmp_path / "absent.stat") is None
    (tmp_path / "torn.stat").write_text("17 (sh")
    assert pids.recorded(tmp_path / "torn.stat") is None
