"""One process outside the supervisor: settings of the caller's environment first, the local stack's for the rest."""

import os

from assay_cli.stack import databases, services
from assay_cli.stack.errors import StackError
from assay_cli.stack.processes import Process
from assay_cli.stack.stack import Stack


def prepare(stack: Stack, process: Process) -> tuple[list[str], dict[str, str]]:
    """The command and environment; any free ports where the caller names none, since the stack's own may be in use."""
    command = services.command(process)
    if "ASSAY_DSN" in os.environ:
        return command, dict(os.environ)
    if stack.state() is None:
        raise StackError(
            "no settings in the environment (ASSAY_DSN, …) and no local stack to take them from: run `assay up` first"
        )
    place = stack.installation
    epoch = databases.open_epoch(place.database("resolver"))
    free_ports = {"ASSAY_OPS_PORT": "0", "ASSAY_HTTP_PORT": "0"}
    return command, place.environment(process, epoch) | free_ports | dict(os.environ)
