"""`assay check`: do the invariants hold in what the databases, the topics and the bucket show?"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict

import psycopg
import typer
from assay_runtime.errors import EvidenceUnavailable, KafkaUnavailable
from confluent_kafka import KafkaException
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from assay_cli.check import STEPS, Violation
from assay_cli.check import check as run_checks
from assay_cli.check.log import LogUnreadable
from assay_cli.check.settings import from_environment
from assay_cli.check.sources import open_sources
from assay_cli.check.violations import all_rules
from assay_cli.commands.failures import in_words
from assay_cli.commands.output import AsJson, print_json, table_of
from assay_cli.errors import CommandError
from assay_cli.local_check import check_installation
from assay_cli.stack import Stack, StackError

_OUT_OF_REACH = (psycopg.OperationalError, KafkaException, KafkaUnavailable, LogUnreadable, EvidenceUnavailable)


@in_words
def check(as_json: AsJson = False) -> None:
    """Look for what must not be, here or where ASSAY_RESOLVER_DSN and ASSAY_PRODUCT_DSN point; exits 1 if it is."""
    with _shown() as on_step:
        found = _look(on_step)
    if as_json:
        print_json({"rules": len(all_rules()), "violations": [asdict(one) for one in found]})
    elif found:
        Console().print(table_of(f"{len(found)} violations", [asdict(one) for one in found]))
    else:
        Console().print(f"Nothing found: {len(all_rules())} rules hold.")
    if found:
        raise typer.Exit(1)


@contextmanager
def _shown() -> Generator[Callable[[str], None]]:
    """A bar on standard error that names what is being looked at."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("connect", total=len(STEPS))
        begun: list[str] = []

        def on_step(name: str) -> None:
            progress.update(bar, description=name, completed=len(begun))
            begun.append(name)

        yield on_step


def _look(on_step: Callable[[str], None]) -> list[Violation]:
    named = from_environment()
    try:
        if named is None:
            return _look_here(on_step)
        dsns = (named.resolver_dsn.get_secret_value(), named.product_dsn.get_secret_value())
        with open_sources(*dsns, named, named) as sources:
            return run_checks(sources, on_step)
    except _OUT_OF_REACH as failure:
        raise CommandError(f"not everything can be read, so nothing is known: {failure}") from failure


def _look_here(on_step: Callable[[str], None]) -> list[Violation]:
    stack = Stack()
    if stack.state() is None:
        raise StackError(
            "no settings in the environment (ASSAY_RESOLVER_DSN, ASSAY_PRODUCT_DSN, …) and no local stack to look at: "
            "run `assay up` first"
        )
    return check_installation(stack.installation, on_step)


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(check)
