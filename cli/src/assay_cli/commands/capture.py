"""`assay capture`: hand in pages, and see what became of them."""

import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import Progress

from assay_cli.captures import Page, find_pages, hand_in, source_of
from assay_cli.client import Client, Document, connect
from assay_cli.commands.failures import in_words
from assay_cli.commands.output import AsJson, Tenant, print_json, show_pairs, table_of
from assay_cli.errors import CommandError, Refused
from assay_cli.stack import Stack
from assay_cli.tenancy import provide

WAIT_SECONDS: Final = 150.0
POLL_SECONDS: Final = 0.25
_OF_EVERY_PAGE: Final = (401, 403)
"""Refusals that the next page would meet too."""

capture = typer.Typer(help="Hand in evidence, and see what became of it.", no_args_is_help=True)


@capture.command()
@in_words
def add(
    paths: Annotated[list[Path], typer.Argument(help="Files, folders, or .txt lists of URLs.")],
    tenant: Tenant,
    catalog: Annotated[str, typer.Option(help="The catalog that they are for.")] = "cat_main",
    source: Annotated[str | None, typer.Option(help="The source that they are from; else one per host.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Until every page has come to its end.")] = False,
    as_json: AsJson = False,
) -> None:
    """Capture pages; what was captured before, byte for byte, gets its first receipt again.

    Exits 1 if any page was refused; the others are captured all the same.
    """
    pages = [page for path in paths for page in find_pages(path)]
    taken = _Taken()
    with connect(tenant) as client, Progress(console=Console(stderr=True), transient=True) as progress:
        for page in progress.track(pages, description="capturing"):
            try:
                taken.receipts.append(_hand_in(client, page, tenant, catalog, source or source_of(page)))
            except Refused as refused:
                if refused.status in _OF_EVERY_PAGE:
                    raise
                taken.refused.append({"page": page.name, "code": refused.code, "why": str(refused)})
        if wait:
            track = progress.track(taken.receipts, description="reading and deciding")
            taken.ends.update(_end(client, str(receipt["capture_id"])) for receipt in track)
    if as_json:
        print_json({"receipts": taken.receipts, "refused": taken.refused, "ends": dict(taken.ends)})
    else:
        taken.show(Console(), tenant)
    if taken.refused:
        raise typer.Exit(1)


@dataclass
class _Taken:
    """What became of the pages handed in; `ends` counts captures by how they ended."""

    receipts: list[Document] = field(default_factory=list[Document])
    refused: list[Document] = field(default_factory=list[Document])
    ends: Counter[str] = field(default_factory=Counter[str])

    def show(self, console: Console, tenant: str) -> None:
        if self.refused:
            console.print(table_of("refused", self.refused))
        ends = ", ".join(f"{count} {end}" for end, count in self.ends.most_common())
        console.print(f"{len(self.receipts)} captured{': ' if ends else ''}{ends}.")
        if self.receipts:
            shown = self.receipts[0]["capture_id"]
            console.print(f"What became of one: assay capture show {shown} --tenant {tenant}", soft_wrap=True)


def _end(client: Client, capture_id: str) -> str:
    """How a capture ended, once it has: that it found something, nothing, or was given up."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        found = client.get("intake", f"/v1/captures/{capture_id}")
        if found["state"] == "dead":
            return "given up"
        if found["state"] != "open":
            return str(found["outcome"] or found["state"])
        if time.monotonic() > deadline:
            raise CommandError(f"capture {capture_id} is still open after {WAIT_SECONDS:.0f} s: assay status")
        time.sleep(POLL_SECONDS)


def _hand_in(client: Client, page: Page, tenant: str, catalog: str, source: str) -> Document:
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
