"""The local stack as one object: up, down, state; the command line and the tests use nothing else."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import JsonValue

from assay_cli.stack import installation, kafka_jars, leftovers, pids, state, unprivileged
from assay_cli.stack.durable import read_object, write_object
from assay_cli.stack.errors import NotReady
from assay_cli.stack.installation import Installation
from assay_cli.stack.layout import Layout, default_home
from assay_cli.stack.processes import PROCESSES
from assay_cli.stack.state import State
from assay_cli.stack.supervisor import PARTS

_POLL_SECONDS = 0.05
_STOP_SECONDS = 90.0
_UP_SECONDS = 120.0
_SHOWN_LOG_LINES = 4

# After so many starts in a row that never served, waiting longer is no help.
_FUTILE_STARTS = 6


class Stack:
    """One installation in one folder; as many as there are folders may run side by side."""

    def __init__(self, home: Path | None = None) -> None:
        self.layout = Layout((home or default_home()).absolute())

    @property
    def installation(self) -> Installation:
        """Addresses and secrets as chosen before."""
        return installation.existing(self.layout)

    def up(
        self,
        *,
        parts_only: bool = False,
        only: Sequence[str] | None = None,
        owner_pid: int | None = None,
        seconds: float = _UP_SECONDS,
        watch: Callable[[State], None] = lambda _state: None,
    ) -> Installation:
        """Start what does not run, and return when all of it serves.

        `only` names parts and processes to run instead of all; with `owner_pid` everything ends with that process;
        `watch` is shown each state. Raises NotReady or MissingPart, which name what is wrong.
        """
        self._check_parts()
        members = list(only) if only is not None else [*PARTS, *(() if parts_only else PROCESSES)]
        running = self.state()
        if running is not None and not set(members) <= set(running.members):
            self.down()
            running = None
        if running is None:
            self._launch(members, owner_pid)
        self._wait_until_ready(seconds, watch, lambda: self._launch(members, owner_pid))
        return self.installation

    def down(self) -> list[str]:
        """Stop everything in order; returns the names of what a killed supervisor had left running, ended as well."""
        supervisor = pids.recorded(self.layout.pid_file_of(leftovers.SUPERVISOR))
        if supervisor is not None:
            pids.end(supervisor, signal.SIGTERM, _STOP_SECONDS)
        return leftovers.end_all(self.layout)

    def state(self) -> State | None:
        """What the living supervisor says; None when none lives."""
        found = state.read(self.layout.state_file)
        return found if found is not None and found.supervisor.is_alive() else None

    def orphans(self) -> list[str]:
        """What still runs although its supervisor does not."""
        return [] if self.state() is not None else sorted(leftovers.found(self.layout))

    def override(self, process: str, **settings: str) -> None:
        """Give one process other settings, such as ASSAY_FAILPOINTS, from its next start on."""
        self.layout.make()
        overrides: dict[str, JsonValue] = read_object(self.layout.overrides_file)
        own: dict[str, JsonValue] = dict(settings)
        write_object(self.layout.overrides_file, overrides | {process: own}, mode=0o600)

    def _check_parts(self) -> None:
        kafka_jars.class_path()
        unprivileged.prefix()

    def _launch(self, members: list[str], owner_pid: int | None) -> None:
        self.layout.make()
        self.layout.state_file.unlink(missing_ok=True)
        command = [sys.executable, "-m", "assay_cli.stack", "supervise", "--home", str(self.layout.home)]
        command += ["--members", ",".join(members)]
        command += ["--owner", str(owner_pid)] if owner_pid is not None else []
        recording = pids.recording(self.layout.pid_file_of(leftovers.SUPERVISOR), command)
        with self.layout.log_of(leftovers.SUPERVISOR).open("ab") as output:
            subprocess.run(
                ["/bin/sh", "-c", '"$@" &', "sh", *recording],
                env=os.environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                check=True,
            )

    def _wait_until_ready(self, seconds: float, watch: Callable[[State], None], launch: Callable[[], None]) -> None:
        """Wait for all of it; where the supervisor that was joined dies meanwhile, another is launched."""
        deadline = time.monotonic() + seconds
        while True:
            current = state.read(self.layout.state_file)
            if current is not None and current.phase != "failed" and not current.supervisor.is_alive():
                launch()
            elif current is not None:
                watch(current)
                if current.phase == "running" and not current.unready():
                    return
                if current.phase == "failed":
                    raise NotReady(current.problem)
                if any(process.futile >= _FUTILE_STARTS for process in current.processes.values()):
                    raise NotReady(self._explain(current))
            if time.monotonic() > deadline:
                raise NotReady(self._explain(current))
            time.sleep(_POLL_SECONDS)

    def _explain(self, current: State | None) -> str:
        if current is None:
            log = self.layout.log_of(leftovers.SUPERVISOR)
            return f"the supervisor did not start; its log {log} ends with:\n{_tail(log)}"
        lines = [f"not everything became ready ({current.phase}):"]
        for process in current.unready():
            log = self.layout.log_of(process.name)
            lines.append(f"{process.name}: {process.why or process.condition}; its log {log} ends with:\n{_tail(log)}")
        return "\n".join(lines)


def _tail(log: Path) -> str:
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return "  (nothing)"
    return "\n".join(f"  {line}" for line in lines[-_SHOWN_LOG_LINES:])
