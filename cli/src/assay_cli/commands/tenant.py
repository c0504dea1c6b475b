"""`assay tenant`: who may ask, and which sources their captures may name."""

from typing import Annotated

import typer
from rich.console import Console

from assay_cli.commands.failures import in_words
from assay_cli.stack import Stack
from assay_cli.tenancy import provide

tenant = typer.Typer(help="Tenants, their catalogs, sources and keys.", no_args_is_help=True)


@tenant.command()
@in_words
def add(
    tenant_id: Annotated[str, typer.Argument(help="Such as ten_acme.")],
    catalog: Annotated[str, typer.Option(help="A catalog to make for it.")] = "cat_main",
    source: Annotated[list[str] | None, typer.Option(help="A source that its captures may name; repeatable.")] = None,
    show_key: Annotated[bool, typer.Option(help="Print its API key, for other programs.")] = False,
) -> None:
    """Make a tenant, or what is missing of it; its API key is kept with the local stack."""
    key = provide(Stack().installation, tenant_id, catalog, source or [])
    Console(stderr=True).print(f"{tenant_id} has {catalog} and a key.")
    if show_key:
        typer.echo(key)


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(tenant, name="tenant")
