"""The service processes as the supervisor runs them: ready when their second port says so."""

import sys
from http import HTTPStatus

from assay_cli.stack.asking import ask
from assay_cli.stack.child import Child
from assay_cli.stack.installation import Installation, http_port_name, ops_port_name
from assay_cli.stack.processes import PROCESSES, Process

_SHOWN_CHARACTERS = 200


def child(installation: Installation, name: str, history_epoch: str) -> Child:
    """One service process of the installation."""
    process = PROCESSES[name]
    ops_port = installation.ports[ops_port_name(name)]
    return Child(
        name=name,
        kind="service",
        command=command(process),
        environment=installation.environment(process, history_epoch),
        not_ready=lambda: not_ready(ops_port),
        ops_port=ops_port,
        port=installation.ports.get(http_port_name(name)),
    )


def command(process: Process) -> list[str]:
    """How the process is started anywhere, given its settings in the environment."""
    return [sys.executable, "-m", process.package, process.argument]


def not_ready(ops_port: int) -> str | None:
    """None when the process calls itself ready."""
    answer = ask(ops_port, "/readyz")
    if answer is None:
        return f"does not answer on port {ops_port} yet"
    if answer.status == HTTPStatus.OK:
        return None
    return answer.text[:_SHOWN_CHARACTERS] or f"answers {answer.status}"
