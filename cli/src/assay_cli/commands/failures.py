"""How a command fails: one message in words, exit code 1, no traceback for what is no surprise."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import psycopg
import typer
from rich.console import Console
from rich.text import Text

from assay_cli.errors import CommandError
from assay_cli.stack import StackError

P = ParamSpec("P")
R = TypeVar("R")


def in_words(command: Callable[P, R]) -> Callable[P, R]:
    """The command, with the failures of the local stack and of services told instead of raised."""

    @functools.wraps(command)
    def told(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (StackError, CommandError) as failure:
            _tell(str(failure))
            raise typer.Exit(1) from failure
        except psycopg.OperationalError as failure:
            _tell(f"the database does not answer: assay status\n{failure}")
            raise typer.Exit(1) from failure

    return told


def _tell(what: str) -> None:
    Console(stderr=True).print(Text("✗ ", style="bold red").append(what, style="default not bold"), soft_wrap=True)
