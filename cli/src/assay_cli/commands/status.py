"""`assay status`: what of the local stack runs, and what keeps the rest from it."""

from dataclasses import asdict
from typing import Annotated

import typer
from pydantic import TypeAdapter
from rich.console import Console

from assay_cli.commands.failures import in_words
from assay_cli.commands.process_table import process_table
from assay_cli.stack import Stack
from assay_cli.stack.state import State

_PARTS_HELP = "Only the processes of the local stack, without asking how far the work is."


@in_words
def status(
    parts: Annotated[bool, typer.Option("--parts", help=_PARTS_HELP)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Show what runs; exits 1 unless everything that should run serves."""
    state = Stack().state()
    if as_json:
        typer.echo(TypeAdapter(dict[str, object]).dump_json({} if state is None else asdict(state), indent=2).decode())
    else:
        Console().print("Nothing runs. Start it with: assay up" if state is None else process_table(state))
    if not _is_whole(state):
        raise typer.Exit(1)


def _is_whole(state: State | None) -> bool:
    return state is not None and state.phase == "running" and not state.unready()


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(status)
