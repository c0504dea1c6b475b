"""`assay capture`: hand in pages, and see what became of them."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from assay_cli.captures import Page, find_pages, hand_in, source_of
from assay_cli.client import Client, connect
from assay_cli.commands.failures import in_words
from assay_cli.commands.output import AsJson, Tenant, print_json, show_pairs
from assay_cli.errors import Refused
from assay_cli.stack import Stack
from assay_cli.tenancy import provide

capture = typer.Typer(help="Hand in evidence, and see what became of it.", no_args_is_help=True)


@capture.command()
@in_words
def add(
    paths: Annotated[list[Path], typer.Argument(help="Files, folders, or .txt lists of URLs.")],
    tenant: Tenant,
    catalog: Annotated[str, typer.Option(help="The catalog that they are for.")] = "cat_main",
    source: Annotated[str | None, typer.Option(help="The source that they are from; else one per host.")] = None,
    as_json: AsJson = False,
) -> None:
    """Capture pages; what was captured before, byte for byte, gets its first receipt again."""
    pages = [page for path in paths for page in find_pages(path)]
    receipts: list[object] = []
    with connect(tenant) as client, Progress(console=Console(stderr=True), transient=True) as progress:
        for page in progress.track(pages, description="capturing"):
            receipts.append(_hand_in(client, page, tenant, catalog, source or source_of(page)))
    if as_json:
        print_json({"receipts": receipts})
    else:
        Console().print(f"{len(receipts)} captured. See: assay capture show CAPTURE --tenant {tenant}")


def _hand_in(client: Client, page: Page, tenant: str, catalog: str, source: str) -> object:
    """Hand in a page; on the local stack a source that nobody made yet is made."""
    try:
        return hand_in(client, page, catalog, source)
    except Refused as refused:
        if refused.code != "unknown_source" or Stack().state() is None:
            raise
    provide(Stack().installation, tenant, catalog, [source])
    return hand_in(client, page, catalog, source)


@capture.command()
@in_words
def show(
    capture_id: Annotated[str, typer.Argument(help="Its id, from the receipt.")],
    tenant: Tenant,
    as_json: AsJson = False,
) -> None:
    """Show a capture, its artifacts and how far its jobs came."""
    with connect(tenant) as client:
        found = client.get("intake", f"/v1/captures/{capture_id}")
    if as_json:
        print_json(found)
    else:
        show_pairs(found)


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(capture, name="capture")
