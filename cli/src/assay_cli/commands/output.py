"""How commands print: JSON for programs, tables for people, and the options that all of them share."""

import json
from collections.abc import Iterable
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assay_cli.client import Document

AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]
Tenant = Annotated[str, typer.Option(envvar="ASSAY_TENANT", help="Whose; picks the stored API key.")]
Catalog = Annotated[str, typer.Option(envvar="ASSAY_CATALOG", help="Which of its catalogs.")]


def print_json(document: object) -> None:
    """One document on standard output."""
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2))


def show_pairs(document: Document) -> None:
    """A document as names and values, lists of documents as tables below."""
    pairs, tables = Table(box=None, show_header=False), list[Table]()
    for name, value in document.items():
        rows = rows_of(value)
        if rows:
            tables.append(table_of(name, rows))
        elif value not in (None, [], {}):
            pairs.add_row(f"[dim]{name}[/]", escape(words(value)))
    console = Console()
    console.print(pairs)
    for table in tables:
        console.print(table)


def rows_of(value: object) -> list[Document]:
    """The documents of a list of documents; of anything else none."""
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Document", one) for one in listed if isinstance(one, dict)]


def table_of(title: str, rows: Iterable[Document]) -> Table:
    """Documents of one shape as a table; columns that are empty throughout are left out."""
    listed = list(rows)
    first: Document = listed[0] if listed else {}
    names = [name for name in first if any(row.get(name) not in (None, "", []) for row in listed)]
    table = Table(title=title, title_justify="left", box=None)
    for name in names:
        table.add_column(name, overflow="fold")
    for row in listed:
        table.add_row(*(escape(words(row.get(name))) for name in names))
    return table


def words(value: object) -> str:
    """A value as a person reads it: a contracts value document without its wrapping."""
    if isinstance(value, dict):
        return _document_words(cast("Document", value))
    if isinstance(value, list):
        return ", ".join(words(one) for one in cast("list[object]", value))
    return "" if value is None else str(value)


def _document_words(document: Document) -> str:
    match document.get("type"):
        case "offer":
            return offer_words(document)
        case "list":
            return words(document["values"])
        case "money":
            return price_words(document["amount"], None, document["currency"])
        case "number":
            return f"{document['number']} {document['unit'] or ''}".strip()
        case "text" | "code" | "url" | "flag":
            return str(document[str(document["type"])])
        case _:
            return json.dumps(document, ensure_ascii=False)


def offer_words(offer: Document) -> str:
    """An offer in a line: price, currency, availability, and its condition unless it is new."""
    parts = [price_words(offer.get("price"), offer.get("price_high"), offer.get("currency"))]
    parts += [str(offer.get(name) or "").replace("_", " ") for name in ("availability", "condition")]
    return " ".join(part for part in parts if part not in ("", "new"))


def price_words(low: object, high: object, currency: object) -> str:
    """A price or a range as people write it, with two decimals at least; nothing for no price."""
    if not low:
        return ""
    amounts = dict.fromkeys(_two_decimals(str(one)) for one in (low, high) if one)
    return f"{'-'.join(amounts)} {currency}"


def _two_decimals(amount: str) -> str:
    whole, _, fraction = amount.partition(".")
    return f"{whole}.{fraction:0<2}"
