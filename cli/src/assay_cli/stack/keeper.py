"""Keeps one process running: starts it, asks whether it serves, and starts it again when it ends, ever less eagerly."""

import subprocess
import threading
import time
from dataclasses import replace

from assay_runtime.logs import get_logger

from assay_cli.stack import pids
from assay_cli.stack.child import Child
from assay_cli.stack.errors import StackError
from assay_cli.stack.installation import inherited
from assay_cli.stack.layout import Layout
from assay_cli.stack.state import Condition, ProcessState

_FIRST_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 10.0
_STEADY_SECONDS = 10.0
_STARTING_POLL_SECONDS = 0.2
_SERVING_POLL_SECONDS = 1.0
_LARGEST_LOG_BYTES = 20_000_000


class Keeper:
    """One process for as long as the stack runs, on a thread of its own; only that thread starts or reaps it."""

    def __init__(self, child: Child, layout: Layout) -> None:
        self.child = child
        self._layout = layout
        self._log = get_logger()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"keep {child.name}", daemon=True)
        self._state = ProcessState(child.name, child.kind, ops_port=child.ops_port, port=child.port)

    @property
    def state(self) -> ProcessState:
        return self._state

    def start(self) -> None:
        """Begin to keep it running."""
        self._thread.start()

    def begin_stop(self) -> None:
        """Ask the process to stop; it is not started again."""
        self._stopping.set()

    def finish_stop(self) -> None:
        """Wait until it is gone, killed if it took longer than it may."""
        if self._thread.is_alive():
            self._thread.join()

    def _keep(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while not self._stopping.is_set():
            started = time.monotonic()
            self._live_once()
            if time.monotonic() - started > _STEADY_SECONDS:
                pause = _FIRST_PAUSE_SECONDS
            self._stopping.wait(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)

    def _live_once(self) -> None:
        self._say("starting", "")
        try:
            process = self._spawn()
        except (StackError, OSError) as refusal:
            self._count_end(str(refusal))
            return
        self._state = replace(self._state, pid=process.pid)
        self._watch(process)
        if process.poll() is None:
            self._end(process)
            self._state = replace(self._state, condition="ended", why="stopped", pid=None)
        else:
            self._count_end(_ending(process.returncode))

    def _spawn(self) -> subprocess.Popen[bytes]:
        self.child.prepare()
        log = self._layout.log_of(self.child.name)
        if log.exists() and log.stat().st_size > _LARGEST_LOG_BYTES:
            log.replace(log.with_suffix(".log.1"))
        with log.open("ab") as output:
            return subprocess.Popen(
                pids.recording(self._layout.pid_file_of(self.child.name), self.child.command),
                env=inherited() | dict(self.child.environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self._layout.run,
            )

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """Until it ends or is to be stopped; a part that served once is asked no more, a service each second."""
        was_ready = False
        while process.poll() is None and not self._stopping.is_set():
            if not (was_ready and self.child.kind == "part"):
                why = self.child.not_ready()
                was_ready = was_ready or why is None
                self._say("ready" if why is None else ("unready" if was_ready else "starting"), why or "")
            self._pause(process, _SERVING_POLL_SECONDS if was_ready else _STARTING_POLL_SECONDS)

    def _pause(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and process.poll() is None and not self._stopping.is_set():
            self._stopping.wait(0.05)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        process.send_signal(self.child.stop_signal)
        try:
            process.wait(self.child.stop_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _say(self, condition: Condition, why: str) -> None:
        if condition != self._state.condition:
            self._log.info(f"process.{condition}", name=self.child.name, pid=self._state.pid, why=why)
        futile = 0 if condition == "ready" else self._state.futile
        self._state = replace(self._state, condition=condition, why=why, futile=futile)

    def _count_end(self, why: str) -> None:
        before = self._state
        self._state = replace(
            before, condition="ended", why=why, pid=None, restarts=before.restarts + 1, futile=before.futile + 1
        )
        self._log.warning("process.ended", name=self.child.name, why=why, count=self._state.restarts)


def _ending(code: int) -> str:
    return f"was killed by signal {-code}" if code < 0 else f"exited with {code}"
