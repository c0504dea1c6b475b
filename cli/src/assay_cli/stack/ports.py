"""Free ports of the loopback interface, chosen once and remembered, so that addresses survive a restart."""

import random
import socket
from collections.abc import Collection
from pathlib import Path

from pydantic import JsonValue

from assay_cli.stack.durable import read_object, write_object

HOST = "127.0.0.1"

# Below the kernel's range for outgoing connections, which could otherwise sit on a port while its server restarts.
_RANGE = range(15_000, 32_000)


def is_free(port: int) -> bool:
    """Whether a server could listen on the port now (a connection that is only winding down does not count)."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def choose(names: Collection[str], taken: Collection[int] = ()) -> dict[str, int]:
    """One free port for each name, no two alike, none of those taken."""
    chosen: dict[str, int] = {}
    for name in names:
        free = (port for port in _candidates() if port not in taken and port not in chosen.values() and is_free(port))
        chosen[name] = next(free)
    return chosen


def _candidates() -> list[int]:
    return random.sample(_RANGE, len(_RANGE))


def remembered(path: Path) -> dict[str, int]:
    """The ports chosen before."""
    return {name: port for name, port in read_object(path).items() if isinstance(port, int)}


def settle(path: Path, names: Collection[str]) -> dict[str, int]:
    """The remembered ports, with new ones for names never seen and for ports that a stranger took meanwhile.

    To be called while nothing of this installation runs: a port in use is a stranger's.
    """
    known = remembered(path)
    kept = {name: port for name, port in known.items() if name not in names or is_free(port)}
    settled = kept | choose([name for name in names if name not in kept], taken=known.values())
    if settled != known:
        stored: dict[str, JsonValue] = dict(settled)
        write_object(path, stored)
    return settled
