"""The supervisor: a small daemon that brings the parts up, lays out the databases and topics, and keeps all processes.

What it relies on. One supervisor per home, by a file lock that the kernel drops with the process. Every child records
its own pid and start time before it becomes itself, so whatever a killed supervisor leaves is found and ended by the
next one. Data is only ever touched by the parts themselves; a part is initialized beside its place and moved there.
"""

import fcntl
import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager

from assay_runtime.logs import get_logger
from assay_runtime.logs import setup as setup_logs

from assay_cli.stack import installation, leftovers, pids, provisioning, services, state
from assay_cli.stack.child import Child
from assay_cli.stack.errors import StackError
from assay_cli.stack.installation import Installation
from assay_cli.stack.keeper import Keeper
from assay_cli.stack.layout import Layout
from assay_cli.stack.pids import Pid
from assay_cli.stack.processes import PROCESSES
from assay_cli.stack.state import Phase, State

PARTS = ("postgres", "kafka", "s3")
"""In the order they stop last to first."""

_PUBLISH_SECONDS = 0.1


class Stopped(Exception):
    """The supervisor was asked to stop while it was still bringing things up."""


class Supervisor:
    """One run of the daemon: its keepers, and what it says of them."""

    def __init__(self, place: Installation, members: list[str], owner: Pid | None) -> None:
        self._place = place
        self._members = members
        self._owner = owner
        self._stop = threading.Event()
        self._keepers: dict[str, Keeper] = {}
        self._me = _myself()
        self._published: State | None = None

    def ask_to_stop(self) -> None:
        """Make `run` end everything in order and return."""
        self._stop.set()

    def run(self) -> str:
        """Until asked to stop, or until the owner is gone; returns what went wrong, or nothing."""
        problem = ""
        try:
            self._bring_up()
            self._attend("running", until_ready=False)
        except Stopped:
            pass
        except StackError as failure:
            problem = str(failure)
        self._publish("stopping", problem)
        self._take_down()
        self._publish("failed" if problem else "stopping", problem)
        return problem

    def _bring_up(self) -> None:
        parts = {"postgres": self._place.postgres, "kafka": self._place.kafka, "s3": self._place.s3}
        self._keep([parts[name].child() for name in PARTS if name in self._members])
        self._attend("parts", until_ready=True)
        wanted = [name for name in PROCESSES if name in self._members]
        if wanted:
            self._publish("provisioning")
            epoch = provisioning.lay_out(self._place)
            self._keep([services.child(self._place, name, epoch) for name in wanted])
            self._attend("services", until_ready=True)

    def _keep(self, children: list[Child]) -> None:
        for child in children:
            keeper = Keeper(child, self._place.layout)
            self._keepers[child.name] = keeper
            keeper.start()

    def _attend(self, phase: Phase, *, until_ready: bool) -> None:
        """Publish what changes, until everything kept is ready if that is awaited."""
        while True:
            self._publish(phase)
            if until_ready and all(keeper.state.condition == "ready" for keeper in self._keepers.values()):
                return
            if self._stop.wait(_PUBLISH_SECONDS) or (self._owner is not None and not self._owner.is_alive()):
                raise Stopped

    def _take_down(self) -> None:
        """Services together, then each part below them; whoever is last is what the others lean on."""
        waves = [[name for name in self._keepers if name in PROCESSES]]
        waves += [[name] for name in reversed(PARTS) if name in self._keepers]
        for wave in waves:
            for name in wave:
                self._keepers[name].begin_stop()
            for name in wave:
                self._keepers[name].finish_stop()

    def _publish(self, phase: Phase, problem: str = "") -> None:
        processes = {name: keeper.state for name, keeper in self._keepers.items()}
        current = State(self._me, phase, self._members, problem, processes)
        if current != self._published:
            state.write(self._place.layout.state_file, current)
            self._published = current


def _myself() -> Pid:
    me = pids.running(os.getpid())
    if me is None:
        raise StackError("/proc does not know this process")
    return me


@contextmanager
def only_one(layout: Layout) -> Generator[bool]:
    """Whether no other supervisor has this home; true for as long as the context lasts."""
    with layout.supervisor_lock.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def supervise(layout: Layout, members: list[str], owner: Pid | None) -> int:
    """Be the supervisor of this home; at once over when there is one."""
    layout.make()
    with only_one(layout) as alone:
        if not alone:
            return 0
        setup_logs("supervisor")
        log = get_logger()
        for name in leftovers.end_all(layout):
            log.warning("leftover.ended", name=name)
        supervisor = Supervisor(installation.settle(layout), members, owner)
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, lambda _signum, _frame: supervisor.ask_to_stop())
        problem = supervisor.run()
        log.info("supervisor.stopped", why=problem)
    return 1 if problem else 0
