"""`assay demo`: from nothing to catalogs that can be questioned, and what to ask them."""

import os
import shutil
import time
from contextlib import ExitStack
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from assay_cli.check import Violation
from assay_cli.check.violations import all_rules
from assay_cli.client import connect
from assay_cli.commands.catalog import items_table, sources_of
from assay_cli.commands.failures import in_words
from assay_cli.commands.local import shown
from assay_cli.demo import CATALOG, TENANTS, Demo, Step, all_items
from assay_cli.errors import CommandError
from assay_cli.local_check import check_installation
from assay_cli.stack import Stack

SHOWN_ITEMS = 8

_screen = Console(stderr=True)


@in_words
def demo(
    once: Annotated[
        bool, typer.Option(help="In a place of its own: check everything, then stop it and remove it.")
    ] = False,
) -> None:
    """Start the local stack, capture real pages of two tenants, and show the catalogs that they become."""
    began = time.monotonic()
    with ExitStack() as afterwards:
        if once:
            _go_elsewhere(afterwards)
        stack = Stack()
        with shown() as watch:
            place = stack.up(watch=watch)
        with _bar() as progress:
            run = Demo(place, _stepper(progress))
            run.load()
        run.compare()
        violations = check_installation(stack.installation) if once else []
        _show(time.monotonic() - began)
        _judge(run.problems, violations)
    if once:
        held = f"{len(all_rules())} rules hold, the catalogs are as expected, and everything is stopped and removed."
        Console().print(held)
    else:
        _suggest()


def _go_elsewhere(afterwards: ExitStack) -> None:
    """A fresh home beside the usual one, stopped and removed at the end whatever happens."""
    home = Stack().layout.home / "once"
    Stack(home).down()
    shutil.rmtree(home, ignore_errors=True)
    before = os.environ.get("ASSAY_HOME")
    os.environ["ASSAY_HOME"] = str(home)

    def leave() -> None:
        Stack(home).down()
        shutil.rmtree(home, ignore_errors=True)
        if before is None:
            del os.environ["ASSAY_HOME"]
        else:
            os.environ["ASSAY_HOME"] = before

    afterwards.callback(leave)


def _bar() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=_screen)


def _stepper(progress: Progress) -> Step:
    """One bar for each thing that is done."""
    bars: dict[str, TaskID] = {}

    def step(what: str, done: int, total: int) -> None:
        if what not in bars:
            bars[what] = progress.add_task(what, total=total)
        progress.update(bars[what], completed=done, total=total)

    return step


def _show(seconds: float) -> None:
    """Some of each tenant's catalog: first the items that several sources offer."""
    console = Console()
    for tenant_id in TENANTS:
        with connect(tenant_id) as client:
            items = all_items(client)
        few = sorted(items, key=sources_of, reverse=True)[:SHOWN_ITEMS]
        title = f"{tenant_id} {CATALOG}: {len(items)} items, of which these have the most sources"
        console.print(items_table(title, few))
        console.print()
    console.print(f"From captured pages to catalogs that can be questioned in {seconds:.0f} s.")


def _judge(problems: list[str], violations: list[Violation]) -> None:
    found = problems + [f"{one.invariant} {one.rule}: {one.subject}" for one in violations]
    if found:
        raise CommandError("the demonstration did not end as it must:\n" + "\n".join(found))


def _suggest() -> None:
    """What to type next, with an item that is really there."""
    tenant_id = next(iter(TENANTS))
    with connect(tenant_id) as client:
        item_id = max(all_items(client), key=sources_of)["item_id"]
    _screen.print("\nAsk it:", style="bold")
    for command, why in (
        (f"catalog search puzzle --tenant {tenant_id}", "find things"),
        (f"item show {item_id} --tenant {tenant_id}", "two sources, one item"),
        (f"explain {item_id} name --tenant {tenant_id}", "why is this value there? down to the bytes"),
        (f"cases list --tenant {tenant_id}", "what the rules left to people"),
        ("status", "how far the work is, hop by hop"),
        ("check", "do the invariants hold?"),
        ("down", "stop everything; the data is kept"),
    ):
        _screen.print(f"  .venv/bin/assay {command:<72} [dim]{why}[/]", highlight=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(demo)
