"""Named instants between two effects, where a crash test can make a process die, fail, stand still or dawdle.

Armed by `ASSAY_FAILPOINTS="relay.after_publish=once:exit,intake.after_put=sleep:2"`. Actions: `exit` (at once, no
clean-up), `raise`, `stop` (SIGSTOP, until somebody sends SIGCONT), `sleep:N` seconds. `once:` limits an action to its
first time over all restarts that share one log. With `ASSAY_FAILPOINT_LOG` every name that was reached and every
action that was taken becomes a line of that file, so that a test can tell a survived crash from one that never came.
"""

import os
import signal
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from assay_runtime.errors import FailpointRaised

EXIT_STATUS = 86
"""The status of a process that an `exit` failpoint ended."""


class Action(StrEnum):
    """What an armed failpoint does to its process."""

    EXIT = "exit"
    RAISE = "raise"
    STOP = "stop"
    SLEEP = "sleep"


@dataclass(frozen=True)
class Armed:
    """One armed failpoint."""

    action: Action
    seconds: float = 0.0
    once: bool = False


_armed: dict[str, Armed] = {}
_reached: set[str] = set()
_log: Path | None = None


def arm(specification: str, log: Path | None = None) -> None:
    """Replace what is armed; an unknown action or a malformed entry is a ValueError. Called once, at start."""
    global _log
    _armed.clear()
    _reached.clear()
    _armed.update(parse(specification))
    if log is None and any(armed.once for armed in _armed.values()):
        raise ValueError("once: needs ASSAY_FAILPOINT_LOG, which remembers over restarts")
    _log = log


def parse(specification: str) -> dict[str, Armed]:
    """Read `name=action,name=once:action:seconds,…`."""
    entries = [entry.strip() for entry in specification.split(",") if entry.strip()]
    return dict(_parse_entry(entry) for entry in entries)


def _parse_entry(entry: str) -> tuple[str, Armed]:
    name, _, text = entry.partition("=")
    once = text.startswith("once:")
    action, _, seconds = text.removeprefix("once:").partition(":")
    if not name or action not in set(Action) or (action == Action.SLEEP) != bool(seconds):
        raise ValueError(f"not a failpoint: {entry}")
    return name, Armed(Action(action), float(seconds or 0), once)


def failpoint(name: str) -> None:
    """Mark an instant; free unless something is armed or logged."""
    if _log is not None and name not in _reached:
        _reached.add(name)
        _append(f"reached {name}")
    armed = _armed.get(name)
    if armed is None or (armed.once and _was_taken(name)):
        return
    if _log is not None:
        _append(f"taken {name}")
    _take(name, armed)


def _take(name: str, armed: Armed) -> None:
    match armed.action:
        case Action.EXIT:
            os._exit(EXIT_STATUS)
        case Action.RAISE:
            raise FailpointRaised(name)
        case Action.STOP:
            os.kill(os.getpid(), signal.SIGSTOP)
        case Action.SLEEP:
            time.sleep(armed.seconds)
        case _:
            assert_never(armed.action)


def _was_taken(name: str) -> bool:
    return _log is not None and _log.exists() and f"taken {name}" in _log.read_text().splitlines()


def _append(line: str) -> None:
    if _log is not None:
        with _log.open("a") as file:
            file.write(line + "\n")
