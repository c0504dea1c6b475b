"""`assay catalog` and `assay item`: ask the projection what there is."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assay_cli.client import Document, connect
from assay_cli.commands.failures import in_words
from assay_cli.commands.output import AsJson, Catalog, Tenant, offer_words, price_words, print_json, rows_of, words

catalog = typer.Typer(help="The catalog as it can be read.", no_args_is_help=True)
item = typer.Typer(help="One thing of the catalog.", no_args_is_help=True)

ID_WIDTH = 37
OFFERS_WIDTH = 22

Limit = Annotated[int, typer.Option(min=1, max=200, help="How many at most.")]


@catalog.command(name="list")
@in_words
def list_items(tenant: Tenant, catalog: Catalog = "cat_main", limit: Limit = 50, as_json: AsJson = False) -> None:
    """List the items of a catalog with their offers."""
    _show_items(tenant, catalog, None, limit, as_json)


@catalog.command()
@in_words
def search(
    query: Annotated[str, typer.Argument(help="Words of a name, brand, mpn or sku, or a gtin.")],
    tenant: Tenant,
    catalog: Catalog = "cat_main",
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Find items."""
    _show_items(tenant, catalog, query, limit, as_json)


def _show_items(tenant: str, catalog_id: str, query: str | None, limit: int, as_json: bool) -> None:
    with connect(tenant) as client:
        page = client.get("product", f"/v1/catalogs/{catalog_id}/items", q=query, limit=limit)
    if as_json:
        print_json(page)
        return
    items = rows_of(page["items"])
    Console().print(items_table(f"{tenant} {catalog_id}", items) if items else _nothing(tenant, catalog_id, query))
    if page["next"]:
        Console().print(f"… and more: a larger --limit, or `search`; these are the first {len(items)}", style="dim")


def _nothing(tenant: str, catalog_id: str, query: str | None) -> str:
    place = f"{catalog_id} of {tenant}"
    return f"Nothing in {place} yet." if query is None else f"Nothing in {place} matches {query!r}."


def items_table(title: str, items: list[Document]) -> Table:
    """Items in a table that fits 80 columns: name and brand over the id that other commands take, gtin, offers."""
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    table.add_column("item", min_width=ID_WIDTH, overflow="fold")
    table.add_column("gtin", no_wrap=True)
    table.add_column("offers", min_width=OFFERS_WIDTH)
    for row in items:
        name, brand, gtin = (escape(words(row.get(one))) for one in ("name", "brand", "gtin"))
        table.add_row(f"{name} [cyan]{brand}[/]\n[dim]{row['item_id']}[/]", gtin, _offers(rows_of(row["offers"])))
    return table


def sources_of(item: Document) -> int:
    """How many sources offer an item."""
    return len({offer["source_id"] for offer in rows_of(item["offers"])})


def _offers(offers: list[Document]) -> str:
    """One offer as it is; of several their range for each currency, and from how many sources."""
    if len(offers) < 2:
        return "".join(f"{offer_words(offer)}\n[dim]{offer['source_id']}[/]" for offer in offers)
    prices: dict[object, list[Decimal]] = {}
    for offer in offers:
        if offer.get("price"):
            prices.setdefault(offer["currency"], []).append(Decimal(str(offer["price"])))
    ranges = [price_words(min(amounts), max(amounts), currency) for currency, amounts in prices.items()]
    sources = {str(offer["source_id"]) for offer in offers}
    whose = next(iter(sources)) if len(sources) == 1 else f"{len(sources)} sources"
    return "\n".join([*ranges, f"[dim]{len(offers)} offers, {whose}[/]"])


@item.command()
@in_words
def show(
    item_id: Annotated[str, typer.Argument(help="Its id, from a list.")],
    tenant: Tenant,
    catalog: Catalog = "cat_main",
    as_json: AsJson = False,
) -> None:
    """Show an item: its accepted values, and the listings and offers behind it."""
    with connect(tenant) as client:
        found = client.get("product", f"/v1/catalogs/{catalog}/items/{item_id}")
    if as_json:
        print_json(found)
        return
    console = Console()
    console.print(f"[bold]{found['item_id']}[/] {found['state']} · revision {found['revision']}")
    console.print(_values("accepted", rows_of(found["attributes"])))
    for listing in rows_of(found["listings"]):
        title = f"listing {listing['source_id']} via {listing['via']}\n{listing['url'] or listing['key']}"
        console.print(_values(title, [*rows_of(listing["offers"]), *rows_of(listing["attributes"])]))
    console.print(f"\nWhy? assay explain {item_id} --tenant {tenant} --catalog {catalog}", style="dim")


def _values(title: str, rows: list[Document]) -> Table:
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for name in ("name", "line", "value", "by", "read from"):
        table.add_column(name, overflow="fold")
    for row in rows:
        evidence = rows_of(row["evidence"])
        table.add_row(
            *(escape(words(row.get(name))) for name in ("name", "line", "value", "by")),
            f"{len(evidence)} fact{'s' if len(evidence) > 1 else ''}, {_sources(evidence)}",
        )
    return table


def _sources(evidence: list[Mapping[str, object]]) -> str:
    return ", ".join(sorted({str(one["source_id"]) for one in evidence}))


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(catalog, name="catalog")
    app.add_typer(item, name="item")
