"""Failpoints: each action does what it says, once when asked, and leaves a trace that a test can demand."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from assay_runtime import failpoints
from assay_runtime.errors import FailpointRaised
from assay_runtime.failpoints import failpoint

CHILD = """
import sys
from pathlib import Path
from assay_runtime import failpoints
failpoints.arm(sys.argv[1], Path(sys.argv[2]))
failpoints.failpoint("relay.after_publish")
print("went on", flush=True)
"""


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    yield
    failpoints.arm("")


def run(specification: str, log: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CHILD, specification, str(log)]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


def test_an_unarmed_failpoint_does_nothing() -> None:
    failpoint("relay.after_publish")


def test_raise_names_the_failpoint() -> None:
    failpoints.arm("relay.after_publish=raise")
    failpoint("relay.before_publish")
    with pytest.raises(FailpointRaised, match=r"relay\.after_publish"):
        failpoint("relay.after_publish")


def test_sleep_takes_its_time() -> None:
    failpoints.arm("relay.after_publish=sleep:0.05")
    started = time.monotonic()
    failpoint("relay.after_publish")
    assert time.monotonic() - started >= 0.05


def test_exit_ends_the_process_at_once(tmp_path: Path) -> None:
    log = tmp_path / "reached"
    ended = run("relay.after_publish=exit", log)
    assert (ended.returncode, ended.stdout) == (failpoints.EXIT_STATUS, "")
    assert log.read_text().splitlines() == ["reached relay.after_publish", "taken relay.after_publish"]


def test_once_lets_the_restarted_process_go_on(tmp_path: Path) -> None:
    log = tmp_path / "reached"
    assert run("relay.after_publish=once:exit", log).returncode == failpoints.EXIT_STATUS
    assert run("relay.after_publish=once:exit", log).stdout == "went on\n"


def test_stop_waits_for_a_continue(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CHILD, "relay.after_publish=stop", str(tmp_path / "reached")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        process.send_signal(signal.SIGCONT)
        assert process.communicate(timeout=20)[0] == "went on\n"


def test_a_reached_name_is_logged_though_nothing_is_armed(tmp_path: Path) -> None:
    log = tmp_path / "reached"
    failpoints.arm("", log)
    failpoint("relay.after_publish")
    failpoint("relay.after_publish")
    assert log.read_text().splitlines() == ["reached relay.after_publish"]


@pytest.mark.parametrize("wrong", ["exit", "a=", "a=explode", "a=sleep", "=exit", "a=exit:3", "a=sleep:soon"])
def test_a_malformed_specification_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"failpoint|float"):
        failpoints.arm(wrong)


def test_once_without_a_memory_is_refused() -> None:
    with pytest.raises(ValueError, match="ASSAY_FAILPOINT_LOG"):
        failpoints.arm("a=once:exit")
