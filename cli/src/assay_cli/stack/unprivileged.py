"""How Postgres, which refuses to run as root, is run by root all the same."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from assay_cli.stack.errors import MissingPart

_NOBODY = 65534
_NAMESPACE = ["unshare", "--user", f"--map-user={_NOBODY}", f"--map-group={_NOBODY}", "--"]
_OTHER_USER = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", "--"]


@cache
def prefix() -> tuple[str, ...]:
    """What goes before a command so that it does not run as root; empty for an ordinary user.

    Inside a user namespace root's files stay root's, so no folder changes hands and a closed home is no obstacle.
    """
    if os.geteuid() != 0:
        return ()
    for way in (_NAMESPACE, _OTHER_USER):
        if shutil.which(way[0]) and _works([*way, "true"]):
            return tuple(way)
    raise MissingPart(
        "PostgreSQL does not run as root, and neither unshare nor setpriv may step down from it here: "
        "install util-linux, or run as an ordinary user"
    )


def _works(command: list[str]) -> bool:
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0


def hand_over(path: Path) -> None:
    """Give the path to the user the command will run as, where that is another user of the machine."""
    if not prefix() or prefix()[0] != _OTHER_USER[0]:
        return
    os.chown(path, _NOBODY, _NOBODY)
    if not _works([*_OTHER_USER, "test", "-w", str(path)]):
        raise MissingPart(
            f"PostgreSQL has to run as another user than root here, who cannot reach {path}: "
            "set ASSAY_HOME to a folder open to everyone, or run as an ordinary user"
        )
