"""`assay epochs`: the incarnations of the history."""

import typer
from rich.console import Console

from assay_cli.client import connect_to_relay
from assay_cli.commands.failures import in_words
from assay_cli.commands.output import AsJson, print_json, rows_of, table_of

epochs = typer.Typer(help="Incarnations of the whole history.", no_args_is_help=True)


@epochs.command(name="list")
@in_words
def list_epochs(as_json: AsJson = False) -> None:
    """List all, oldest first; only what belongs to the open one takes effect."""
    with connect_to_relay() as client:
        found = client.get("relay-api", "/v1/epochs")
    if as_json:
        print_json(found)
    else:
        Console().print(table_of("history epochs", rows_of(found["epochs"])))


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(epochs, name="epochs")
