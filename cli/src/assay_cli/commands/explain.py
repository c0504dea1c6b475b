"""`assay explain`: why is this value there? From the value to the decision, the place, the bytes and the receipt."""

from dataclasses import asdict
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.markup import escape
from rich.tree import Tree

from assay_cli.client import Client, Document, connect
from assay_cli.commands.failures import in_words
from assay_cli.commands.output import AsJson, Catalog, Tenant, print_json, rows_of, words
from assay_cli.errors import CommandError
from assay_cli.explaining import RAW_SHOWN, Verdict, verify_lineage


@in_words
def explain(
    item_id: Annotated[str, typer.Argument(help="An item's id.")],
    tenant: Tenant,
    attribute: Annotated[str | None, typer.Argument(help="One of its attributes; else all.")] = None,
    catalog: Catalog = "cat_main",
    as_json: AsJson = False,
) -> None:
    """Lead each value of an item back to its decision and to the bytes, reading them again; exits 1 if any differ."""
    with connect(tenant) as client:
        found = client.get("resolver", f"/v1/items/{item_id}/lineage", catalog=catalog, attribute=attribute)
        values = rows_of(found["attributes"])
        if not values:
            raise CommandError(_has_none(client, item_id, catalog, attribute))
        verdicts = verify_lineage(client, values)
    if as_json:
        print_json({**found, "verified": {fact: asdict(verdict) for fact, verdict in verdicts.items()}})
    else:
        for value in values:
            Console().print(_tree(value, verdicts))
    if not all(verdict.holds for verdict in verdicts.values()):
        raise typer.Exit(1)


def _has_none(client: Client, item_id: str, catalog: str, attribute: str | None) -> str:
    values = rows_of(client.get("resolver", f"/v1/items/{item_id}/lineage", catalog=catalog)["attributes"])
    names = ", ".join(sorted({str(value["name"]) for value in values}))
    return f"{item_id} has no {attribute}; it has {names}" if names else f"{item_id} has no value"


def _tree(value: Document, verdicts: dict[str, Verdict]) -> Tree:
    line = f" ({value['line']})" if value["line"] else ""
    owner = "" if value["owner_type"] == "item" else f" of {value['owner_id']}"
    tree = Tree(f"[bold]{value['name']}[/]{escape(line)}{owner} = [green]{escape(words(value['value']))}[/]")
    decision, event = cast("Document", value["decision"]), cast("Document", value["event"])
    decided = tree.add(f"decided {decision['decided_at']} by {decision['actor']}: {escape(str(decision['rationale']))}")
    decided.add(f"[dim]{decision['action']} {decision['decision_id']} · position {event['position']}[/]")
    for loser in rows_of(value["against"]):
        stated = f"{loser['source_id']} states [yellow]{escape(words(loser['value']))}[/]"
        tree.add(f"not: {stated}, since {escape(str(loser['because']))}")
    for fact in rows_of(value["support"]):
        read = f"{fact['name']} read as [cyan]{escape(str(fact['raw'])[:RAW_SHOWN])}[/]"
        branch = tree.add(f"{read} {_mark(verdicts[str(fact['fact'])])}")
        branch.add(f"by {fact['adapter']} and {fact['profile']}")
        branch.add(f"at {fact['place_syntax']} {escape(str(fact['place']))}")
        branch.add(f"in sha256 {fact['sha256']} ({fact['bytes']} bytes, {fact['media_type']})")
        branch.add(f"from {escape(str(fact['url'] or fact['key']))}, observed {fact['observed_at']}")
        branch.add(f"receipt {fact['receipt_id']} of {fact['received_at']}, capture {fact['capture_id']}")
    return tree


def _mark(verdict: Verdict) -> str:
    if verdict.holds:
        return "[green]✓ bytes, place and value agree[/]"
    parts = (("bytes", verdict.hash_stands), ("place", verdict.raw_stands), ("value", verdict.value_stands))
    failed = [name for name, stands in parts if not stands]
    return f"[red]✗ {', '.join(failed)} differ {verdict.problem or ''}[/]"


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(explain)
