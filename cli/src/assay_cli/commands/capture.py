"""`assay capture`: hand in pages, and see what became of them."""

import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from assay_cli.captures import Page, find_pages, hand_in, source_of
from assay_cli.client import Client, Document, connect
from assay_cli.commands.failures import in_words
from assay_cli.commands.output import AsJson, Tenant, print_json, rows_of, show_pairs
from assay_cli.errors import CommandError, Refused
from assay_cli.stack import Stack
from assay_cli.tenancy import provide

WAIT_SECONDS: Final = 150.0
POLL_SECONDS: Final = 0.25
SHOWN_PAGES: Final = 50
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
    taken = _Taken()
    pages = [page for path in paths for page in find_pages(path, taken.miss)]
    if not pages and not taken.refused:
        raise CommandError("there is no page in what was named")
    with connect(tenant) as client, Progress(console=Console(stderr=True), transient=True) as progress:
        for page in progress.track(pages, description="capturing"):
            try:
                taken.take(page, _hand_in(client, page, tenant, catalog, source or source_of(page)))
            except Refused as refused:
                if refused.status in _OF_EVERY_PAGE:
                    raise
                taken.miss(page.name, str(refused))
        if wait:
            for row in progress.track(taken.pages, description="reading and deciding"):
                row["end"], row["why"] = _end(client, str(row["capture_id"]))
    if as_json:
        ends = dict(taken.ends()) if wait else {}
        print_json({"receipts": taken.receipts, "refused": taken.refused, "ends": ends})
    else:
        taken.show(Console(), tenant)
    if taken.refused:
        raise typer.Exit(1)


@dataclass
class _Taken:
    """What became of the pages handed in; with --wait each row of `pages` has its `end` and, if it has one, `why`."""

    receipts: list[Document] = field(default_factory=list[Document])
    pages: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    refused: list[Document] = field(default_factory=list[Document])

    def take(self, page: Page, receipt: Document) -> None:
        self.receipts.append(receipt)
        self.pages.append({"page": page.name, "capture_id": receipt["capture_id"]})

    def miss(self, name: str, why: str) -> None:
        self.refused.append({"page": name, "why": why})

    def ends(self) -> Counter[str]:
        return Counter(str(row["end"]) for row in self.pages if "end" in row)

    def show(self, console: Console, tenant: str) -> None:
        for row in self.pages[:SHOWN_PAGES]:
            end = f" [cyan]{row['end']}[/]" if "end" in row else ""
            why = f" [dim]{escape(str(row['why']))}[/]" if row.get("why") else ""
            console.print(f"[dim]{row['capture_id']}[/]{end} {escape(str(row['page']))}{why}", soft_wrap=True)
        if len(self.pages) > SHOWN_PAGES:
            console.print(f"… and {len(self.pages) - SHOWN_PAGES} more: --json names all of them", style="dim")
        for row in self.refused:
            console.print(f"[red]✗[/] {escape(str(row['page']))}: {escape(str(row['why']))}", soft_wrap=True)
        ends = ", ".join(f"{count} {end}" for end, count in self.ends().most_common())
        console.print(f"{len(self.pages)} captured{': ' if ends else ''}{ends}.")
        if self.pages:
            console.print(f"More of one: assay capture show CAPTURE --tenant {tenant}", style="dim")


def _end(client: Client, capture_id: str) -> tuple[str, str | None]:
    """How a capture ended, once it has, and why where nothing came of it."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        found = client.get("intake", f"/v1/captures/{capture_id}")
        if found["state"] != "open":
            causes = [str(job["cause"]) for job in rows_of(found["jobs"]) if job.get("cause")]
            end = "given up" if found["state"] == "dead" else str(found["outcome"] or found["state"])
            return end, causes[-1] if causes else None
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
        return
    console = Console()
    show_pairs({name: value for name, value in found.items() if name not in ("artifacts", "jobs")})
    for artifact in rows_of(found["artifacts"]):
        console.print(f"artifact {artifact['sha256']} ({artifact['media_type']}, {artifact['bytes']} bytes)")
    for job in rows_of(found["jobs"]):
        attempt = f" · attempt {job['attempt']}" if job["attempt"] != 1 else ""
        end = f" · {job['outcome']}" if job["outcome"] else ""
        cause = f" · {escape(str(job['cause']))}" if job["cause"] else ""
        console.print(f"{job['stage']:<10} {job['state']}{end}{attempt}{cause}", soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(capture, name="capture")
