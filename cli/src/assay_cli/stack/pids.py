"""Processes named by pid and kernel start time, so that a pid used again by a stranger is never taken for ours."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_POLL_SECONDS = 0.02
_STATE_FIELD = 0
_START_FIELD = 19


@dataclass(frozen=True, slots=True)
class Pid:
    """One process of this machine since its boot: the pid and the clock tick it was started at."""

    pid: int
    started_tick: int

    def is_alive(self) -> bool:
        """Whether this very process still runs; one that ended and waits for its parent counts as gone."""
        return running(self.pid) == self

    def send(self, signum: int) -> bool:
        """Signal the process if it is still the one that was recorded."""
        if not self.is_alive():
            return False
        try:
            os.kill(self.pid, signum)
        except ProcessLookupError:
            return False
        return True


def _parse(stat: str) -> tuple[Pid, str] | None:
    head, _, tail = stat.rpartition(")")
    fields = tail.split()
    if len(fields) <= _START_FIELD:
        return None
    return Pid(int(head.split(" ", 1)[0]), int(fields[_START_FIELD])), fields[_STATE_FIELD]


def running(pid: int) -> Pid | None:
    """The process that has this pid now, unless there is none or it has ended."""
    try:
        parsed = _parse(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace"))
    except (FileNotFoundError, ProcessLookupError):
        return None
    if parsed is None or parsed[1] in "ZX":
        return None
    return parsed[0]


def recorded(pid_file: Path) -> Pid | None:
    """The process that wrote this file about itself before it became what it is."""
    try:
        parsed = _parse(pid_file.read_text(encoding="utf-8", errors="replace"))
    except FileNotFoundError:
        return None
    return parsed[0] if parsed else None


def recording(pid_file: Path, command: list[str]) -> list[str]:
    """The command, recorded by the new process itself: no moment exists in which it runs and nobody knows its pid."""
    script = 'read -r stat </proc/$$/stat && printf "%s\\n" "$stat" >"$0" && exec "$@"'
    return ["/bin/sh", "-c", script, str(pid_file), *command]


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether the condition came true before the deadline."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def end(process: Pid, stop_signal: int, grace_seconds: float) -> None:
    """Ask the process to stop, and kill it when it does not."""
    process.send(stop_signal)
    if not wait_until(lambda: not process.is_alive(), grace_seconds):
        process.send(signal.SIGKILL)
        wait_until(lambda: not process.is_alive(), grace_seconds)
