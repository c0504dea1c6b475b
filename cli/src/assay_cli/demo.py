"""The demonstration: real pages of two tenants go through every process and become catalogs that can be questioned."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Final, TypedDict, cast

from assay_cli.captures import Page, find_pages, hand_in, source_of
from assay_cli.client import Client, Document, connect
from assay_cli.commands.output import rows_of
from assay_cli.errors import CommandError
from assay_cli.hops import is_quiet, measure
from assay_cli.stack.installation import Installation
from assay_cli.tenancy import provide

CATALOG: Final = "cat_main"
TENANTS: Final = {"ten_north": "north", "ten_south": "south"}
WAIT_SECONDS: Final = 150.0
POLL_SECONDS: Final = 0.25

Step = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


class Shared(TypedDict):
    """A gtin that several listings state, and the keys of those listings."""

    gtin: str
    listings: list[str]


class Expected(TypedDict):
    """What a tenant's catalog must hold in the end."""

    captures: int
    items: int
    open_cases: int
    doubtful: list[str]
    shared: list[Shared]


@dataclass
class Demo:
    """One run against a stack that serves; `problems` says what is not as it must be."""

    place: Installation
    step: Step
    problems: list[str] = field(default_factory=list[str])

    def load(self) -> None:
        """Capture every page of every tenant and wait until each has come to its end and can be read.

        The pages that no rule can place come last, when what they resemble is there.
        """
        for last in (False, True):
            self._wait_for_ends(list(self._capture_all(last)))
        self._wait_for_quiet()

    def compare(self) -> None:
        """Hold every tenant's catalog against what these pages must become."""
        for tenant_id, expected in expectations().items():
            with connect(tenant_id) as client:
                self.problems += compare(client, tenant_id, expected)

    def _capture_all(self, last: bool) -> Iterator[tuple[str, str]]:
        chosen = {tenant_id: _pages(tenant_id, last) for tenant_id in TENANTS}
        what = "capturing pages that need a person" if last else "capturing pages"
        total, done = sum(len(pages) for pages in chosen.values()), 0
        for tenant_id, pages in chosen.items():
            provide(self.place, tenant_id, CATALOG, [source_of(page) for page in pages])
            with connect(tenant_id) as client:
                for page in pages:
                    receipt = hand_in(client, page, CATALOG, source_of(page))
                    done += 1
                    self.step(what, done, total)
                    yield tenant_id, str(receipt["capture_id"])

    def _wait_for_ends(self, captures: list[tuple[str, str]]) -> None:
        deadline, open_captures = time.monotonic() + WAIT_SECONDS, dict.fromkeys(captures)
        while open_captures:
            for tenant_id in TENANTS:
                with connect(tenant_id) as client:
                    for one in [one for one in open_captures if one[0] == tenant_id]:
                        if self._has_ended(client, one):
                            del open_captures[one]
            self.step("reading and deciding", len(captures) - len(open_captures), len(captures))
            if time.monotonic() > deadline:
                self.problems.append(f"{len(open_captures)} captures have not ended after {WAIT_SECONDS:.0f} s")
                return
            time.sleep(POLL_SECONDS)

    def _has_ended(self, client: Client, capture: tuple[str, str]) -> bool:
        found = client.get("intake", f"/v1/captures/{capture[1]}")
        if found["state"] == "dead":
            self.problems.append(f"capture {capture[1]} of {capture[0]} was given up on: assay capture show")
        return found["state"] != "open"

    def _wait_for_quiet(self) -> None:
        """Every event is published and applied."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            hops = measure(self.place)
            self.step("building the catalogs", hops[6].done, hops[6].done + hops[5].waiting + hops[6].waiting)
            if is_quiet(hops):
                return
            if time.monotonic() > deadline:
                waiting = ", ".join(f"{hop.name}: {hop.waiting}" for hop in hops if hop.waiting)
                raise CommandError(f"the catalogs were not built after {WAIT_SECONDS:.0f} s ({waiting}): assay status")
            time.sleep(POLL_SECONDS)


def _pages(tenant_id: str, doubtful: bool) -> list[Page]:
    """A tenant's pages: those that no rule can place, or all others."""
    urls = expectations()[tenant_id]["doubtful"]
    return [page for page in find_pages(demo_folder() / TENANTS[tenant_id]) if (page.url in urls) == doubtful]


def compare(client: Client, tenant_id: str, expected: Expected) -> list[str]:
    """What of a tenant's catalog is not as expected, in words; people may have added to it, never taken away."""
    items = all_items(client)
    problems: list[str] = []
    if len(items) < expected["items"]:
        problems.append(f"{tenant_id} has {len(items)} items, not {expected['items']}")
    by_gtin = {str(gtin): item for item in items for gtin in cast("list[str]", item["gtin"])}
    for shared in expected["shared"]:
        item = by_gtin.get(shared["gtin"])
        found = [] if item is None else _listing_keys(client, str(item["item_id"]))
        missing = set(shared["listings"]) - set(found)
        if missing:
            problems.append(f"{tenant_id}: gtin {shared['gtin']} lacks {', '.join(sorted(missing))}")
    return problems + _without_case(client, tenant_id, expected["doubtful"])


def _without_case(client: Client, tenant_id: str, doubtful: list[str]) -> list[str]:
    """Doubtful pages that nobody was or is asked about."""
    asked: set[object] = set()
    for state in ("open", "decided"):
        for case in rows_of(client.get("resolver", "/v1/cases", catalog=CATALOG, state=state)["cases"]):
            shown = client.get("resolver", f"/v1/cases/{case['case_id']}", catalog=CATALOG)
            asked.add(cast("Document", shown["listing"])["url"])
    return [f"{tenant_id}: nobody was asked about {url}" for url in doubtful if url not in asked]


def expectations() -> dict[str, Expected]:
    """What each tenant's catalog must hold, by tenant."""
    written = cast("dict[str, dict[str, Expected]]", json.loads((demo_folder() / "expected.json").read_text()))
    return {tenant_id: written["tenants"][folder] for tenant_id, folder in TENANTS.items()}


def all_items(client: Client) -> list[Document]:
    """Every item of the demonstration's catalog, page by page."""
    items: list[Document] = []
    after: str | None = None
    while True:
        page = client.get("product", f"/v1/catalogs/{CATALOG}/items", after=after, limit=100)
        items += rows_of(page["items"])
        if page["next"] is None:
            return items
        after = str(page["next"])


def _listing_keys(client: Client, item_id: str) -> list[str]:
    item = client.get("product", f"/v1/catalogs/{CATALOG}/items/{item_id}")
    return [str(listing["key"]) for listing in rows_of(item["listings"])]


def demo_folder() -> Path:
    """Where the pages lie."""
    return Path(str(files("assay_cli") / "demo_pages"))
