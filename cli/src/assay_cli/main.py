"""`assay`: every act of an operator, composed from the modules of `commands`."""

import typer

from assay_cli.commands import (
    capture,
    cases,
    catalog,
    check,
    contracts,
    deciding,
    demo,
    epochs,
    explain,
    local,
    retention,
    status,
    tenant,
)

app = typer.Typer(
    name="assay",
    help="Evidence in, a catalog that can be questioned out.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)

for commands in (
    demo,
    local,
    status,
    tenant,
    capture,
    catalog,
    explain,
    cases,
    deciding,
    check,
    contracts,
    retention,
    epochs,
):
    commands.register(app)
