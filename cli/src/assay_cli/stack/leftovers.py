"""Ends what an earlier supervisor left behind when it was killed: services first, then the parts below them."""

import signal

from assay_cli.stack import pids
from assay_cli.stack.layout import Layout
from assay_cli.stack.pids import Pid

SUPERVISOR = "supervisor"
_PARTS_IN_STOP_ORDER = {"s3": signal.SIGTERM, "kafka": signal.SIGTERM, "postgres": signal.SIGINT}
_GRACE_SECONDS = 15.0


def found(layout: Layout) -> dict[str, Pid]:
    """Recorded processes that still run, the supervisor left out."""
    records = {file.stem: pids.recorded(file) for file in sorted(layout.run.glob("*.stat")) if file.stem != SUPERVISOR}
    return {name: pid for name, pid in records.items() if pid is not None and pid.is_alive()}


def end_all(layout: Layout) -> list[str]:
    """End them in order and name them."""
    alive = found(layout)
    services = {name: pid for name, pid in alive.items() if name not in _PARTS_IN_STOP_ORDER}
    for pid in services.values():
        pid.send(signal.SIGTERM)
    for pid in services.values():
        pids.end(pid, signal.SIGTERM, _GRACE_SECONDS)
    for name, stop_signal in _PARTS_IN_STOP_ORDER.items():
        if name in alive:
            pids.end(alive[name], stop_signal, _GRACE_SECONDS)
    return sorted(alive)
