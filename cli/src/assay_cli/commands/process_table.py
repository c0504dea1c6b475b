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
