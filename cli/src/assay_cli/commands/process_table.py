"""The processes of the local stack as a table: while they come up, and whenever asked."""

from rich.table import Table

from assay_cli.stack.state import Condition, ProcessState, State

_MARKS: dict[Condition, str] = {
    "waiting": "[dim]·[/]",
    "starting": "[yellow]…[/]",
    "ready": "[green]✓[/]",
    "unready": "[yellow]![/]",
    "ended": "[red]✗[/]",
}


def news(before: State | None, now: State) -> list[str]:
    """One line for each process that became ready or ended since, for a screen that cannot be redrawn."""
    known = {} if before is None else before.processes
    return [
        f"{process.name}: {process.why or process.condition}"
        for process in now.processes.values()
        if process.condition in ("ready", "ended") and known.get(process.name) != process
    ]


def process_table(state: State) -> Table:
    """One row for each member, those not yet begun included."""
    ready = len(state.processes) - len(state.unready())
    table = Table(title=f"{state.phase}: {ready} of {len(state.members)} ready", title_justify="left", box=None)
    for heading in ("", "process", "pid", "port", "restarts", "why not"):
        table.add_column(heading)
    for name in state.members:
        table.add_row(*_row(state.processes.get(name) or ProcessState(name, "service")))
    return table


def _row(process: ProcessState) -> tuple[str, ...]:
    ports = [str(port) for port in (process.port, process.ops_port) if port is not None]
    pid = "" if process.pid is None else str(process.pid)
    return _MARKS[process.condition], process.name, pid, " ".join(ports), str(process.restarts or ""), process.why
