"""`assay up|down|run|kafka`: the local stack, one process of it alone, and Kafka's own tools against its broker."""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live

from assay_cli.commands.failures import in_words
from assay_cli.commands.process_table import news, process_table
from assay_cli.stack import Stack, StackError, alone, kafka_tools
from assay_cli.stack.installation import http_port_name
from assay_cli.stack.ports import HOST
from assay_cli.stack.processes import PROCESSES
from assay_cli.stack.state import State

_screen = Console(stderr=True)


@contextmanager
def shown() -> Generator[Callable[[State], None]]:
    """Shows states as they change: a table that is redrawn, or news line by line where nothing can be redrawn."""
    if _screen.is_terminal:
        with Live(console=_screen, transient=True, refresh_per_second=8) as live:
            yield lambda current: live.update(process_table(current))
        return
    last: State | None = None

    def tell(current: State) -> None:
        nonlocal last
        for line in news(last, current):
            _screen.print(line, highlight=False, markup=False, soft_wrap=True)
        last = current

    yield tell


@in_words
def up(
    parts_only: Annotated[bool, typer.Option(help="Only Kafka, Postgres and S3, without our own processes.")] = False,
) -> None:
    """Start the local stack, and return when everything in it serves."""
    with shown() as show:
        place = Stack().up(parts_only=parts_only, watch=show)
    if parts_only:
        _screen.print(f"Kafka {place.kafka.bootstrap} · Postgres {HOST}:{place.postgres.port} · S3 {place.s3.endpoint}")
        return
    for name, process in PROCESSES.items():
        if "http" in process.needs:
            _screen.print(f"{name:<10} http://{HOST}:{place.ports[http_port_name(name)]}/docs", highlight=False)
    _screen.print("Everything serves. Next: [bold]assay demo[/] · [bold]assay status[/] · [bold]assay down[/]")


@in_words
def down() -> None:
    """Stop the local stack in order; its data is kept."""
    leftovers = Stack().down()
    ended = f" (left over from a killed supervisor, ended too: {', '.join(leftovers)})" if leftovers else ""
    _screen.print(f"Nothing of the local stack runs now{ended}.")


@in_words
def run(process: Annotated[str, typer.Argument(help=f"One of: {', '.join(PROCESSES)}.")]) -> None:
    """Run one process in the foreground, with the settings of the environment, else those of the local stack."""
    if process not in PROCESSES:
        raise StackError(f"there is no process {process!r}; there are: {', '.join(PROCESSES)}")
    command, environment = alone.prepare(Stack(), PROCESSES[process])
    os.execve(command[0], command, environment)  # noqa: S606 - replaces this process by one of ours, no shell


@in_words
def kafka(
    context: typer.Context,
    tool: Annotated[str, typer.Argument(help=f"One of: {', '.join(kafka_tools.TOOLS)}.")],
) -> None:
    """Run one of Kafka's own tools against the local broker; what follows the tool's name goes to the tool."""
    bootstrap = os.environ.get("ASSAY_KAFKA_BOOTSTRAP") or Stack().installation.kafka.bootstrap
    command = kafka_tools.command(tool, context.args, bootstrap)
    os.execv(command[0], command)  # noqa: S606 - replaces this process by the Java tool, no shell


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(up)
    app.command()(down)
    app.command()(run)
    app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(kafka)
