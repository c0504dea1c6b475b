"""`assay status`: what of the local stack runs, how far the work is, and what keeps the rest."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated

import psycopg
import typer
from pydantic import TypeAdapter
from rich.console import Console
from rich.table import Table

from assay_cli.commands.failures import in_words
from assay_cli.commands.process_table import process_table
from assay_cli.hops import Hop, measure
from assay_cli.stack import Stack
from assay_cli.stack.state import State

_PARTS_HELP = "Only the processes of the local stack, without asking how far the work is."


@in_words
def status(
    parts: Annotated[bool, typer.Option("--parts", help=_PARTS_HELP)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Show what runs and each hop's counts, waiting records and their age; exits 1 unless everything serves."""
    stack = Stack()
    state, orphans = stack.state(), stack.orphans()
    hops = [] if parts or (state is None and not orphans) else _hops(stack)
    if as_json:
        document: dict[str, object] = {} if state is None else asdict(state)
        document |= {"orphans": orphans, "hops": [asdict(hop) for hop in hops]}
        typer.echo(TypeAdapter(dict[str, object]).dump_json(document, indent=2).decode())
    else:
        console = Console()
        console.print(_nothing(orphans) if state is None else process_table(state))
        if hops:
            console.print(hop_table(hops))
    if not _is_whole(state):
        raise typer.Exit(1)


def _nothing(orphans: list[str]) -> str:
    if not orphans:
        return "Nothing runs. Start it with: assay up"
    return (
        f"The supervisor has died and restarts nothing; still running: {', '.join(orphans)}. Begin anew with: assay up"
    )


def _hops(stack: Stack) -> list[Hop]:
    """Nothing where the databases do not answer: the process table says so already."""
    try:
        return measure(stack.installation)
    except psycopg.OperationalError:
        return []


def hop_table(hops: Iterable[Hop]) -> Table:
    """One row for each hop."""
    table = Table(title="the record's path", title_justify="left", box=None, padding=(0, 2, 0, 0))
    table.add_column("hop")
    for name in ("done", "waiting", "oldest"):
        table.add_column(name, justify="right")
    table.add_column("")
    for hop in hops:
        oldest = f"{hop.age_seconds:.1f} s" if hop.waiting else ""
        table.add_row(hop.name, str(hop.done), str(hop.waiting), oldest, f"[yellow]{hop.problem}[/]")
    return table


def _is_whole(state: State | None) -> bool:
    return state is not None and state.phase == "running" and not state.unready()


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(status)
