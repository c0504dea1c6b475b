"""`assay cases` and `assay pin`: the questions that rules leave to people, and what people state."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, cast

import typer
from assay_contracts.ids import uuid7
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assay_cli.client import Document, connect
from assay_cli.commands.failures import in_words
from assay_cli.commands.output import AsJson, Catalog, Tenant, print_json, rows_of, show_pairs, words
from assay_cli.errors import CommandError
from assay_cli.statements import value_of

cases = typer.Typer(help="Questions for a person.", no_args_is_help=True)

_TELLING: Final = ("name", "brand", "gtin", "mpn", "sku", "color", "size", "price", "currency")
"""What tells one thing from another, first; a page's long texts stay in --json."""
_SHOWN: Final = 120

Action = Literal["accept", "merge", "create", "reject", "key_is_wrong", "withdraw", "reopen"]
CaseId = Annotated[str, typer.Argument(help="A case's id.")]
Rationale = Annotated[str, typer.Option("--because", help="Why; kept with the decision for ever.")]
RequestId = Annotated[str | None, typer.Option(help="Names this request, so that a retry decides nothing twice.")]


@cases.command(name="list")
@in_words
def list_cases(
    tenant: Tenant,
    catalog: Catalog = "cat_main",
    state: Annotated[str, typer.Option(help="open, decided or withdrawn.")] = "open",
    as_json: AsJson = False,
) -> None:
    """List questions, oldest first."""
    with connect(tenant) as client:
        found = client.get("resolver", "/v1/cases", catalog=catalog, state=state)
    if as_json:
        print_json(found)
    else:
        _list(Console(), f"{state} cases of {tenant} {catalog}", rows_of(found["cases"]))


def _list(console: Console, title: str, cases: list[Document]) -> None:
    if not cases:
        console.print(f"No {title}.")
        return
    console.print(f"{title}:", style="italic")
    for case in cases:
        console.print(f"{case['case_id']}  {case['kind']}: {_plain(case['reason'])}", soft_wrap=True)
    console.print("Look at one: assay cases show CASE", style="dim")


def _plain(reason: object) -> str:
    return str(reason).replace("_", " ")


@cases.command()
@in_words
def show(case_id: CaseId, tenant: Tenant, catalog: Catalog = "cat_main", as_json: AsJson = False) -> None:
    """Show a question: what the page states, beside each item that it may be."""
    with connect(tenant) as client:
        found = client.get("resolver", f"/v1/cases/{case_id}", catalog=catalog)
    if as_json:
        print_json(found)
    else:
        _show(Console(), found)


def _show(console: Console, case: Document) -> None:
    """The question, then what the page states beside what each item has, then the answers there are."""
    listing, facts = cast("Document", case["listing"]), rows_of(case["facts"])
    console.print(f"[bold]{case['case_id']}[/] {case['kind']} · {case['state']} · revision {case['revision']}")
    console.print(
        f"{_plain(case['reason'])}: {escape(str(listing['url'] or listing['key']))} of {listing['source_id']}"
    )
    stated = {str(fact["name"]): words(fact["value"]) or str(fact["raw"]) for fact in reversed(facts)}
    candidates = rows_of(case["candidates"])
    for candidate in candidates:
        console.print(_beside(stated, candidate))
    if not candidates:
        console.print(_beside(stated, None))
    if case["state"] == "open":
        _answers(console, str(case["case_id"]), candidates)


def _beside(stated: Mapping[str, str], candidate: Document | None) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("", "the page states", *([str(candidate["item_id"])] if candidate else [])):
        table.add_column(heading, overflow="fold")
    values: Document = cast("Document", candidate["attributes"]) if candidate else {}
    for name in (*(one for one in _TELLING if one in stated or one in values), *sorted(values.keys() - set(_TELLING))):
        row = (f"[dim]{name}[/]", escape(stated.get(name, "")[:_SHOWN]))
        table.add_row(*row, *([escape(words(values.get(name))[:_SHOWN])] if candidate else []))
    if candidate and candidate["score"]:
        table.add_row("[dim]likeness[/]", "", str(candidate["score"]))
    return table


def _answers(console: Console, case_id: str, candidates: list[Document]) -> None:
    console.print("Answer it:", style="bold")
    accepts = [f"accept --item {candidate['item_id']}" for candidate in candidates]
    for answer in (*accepts, "create", "reject"):
        console.print(f'  assay cases decide {case_id} {answer} --because "…"', soft_wrap=True, highlight=False)


@cases.command()
@in_words
def decide(
    case_id: CaseId,
    action: Annotated[Action, typer.Argument(help="What the listing is, or what the question is.")],
    tenant: Tenant,
    because: Rationale,
    item: Annotated[
        str | None, typer.Option(help="With accept: the item that it is; with merge: what all are.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="With key_is_wrong: such as gtin:04006381333931.")] = None,
    overrule: Annotated[list[str] | None, typer.Option(help="The decision of a verdict that shall not stand.")] = None,
    revision: Annotated[int | None, typer.Option(help="The revision that you looked at; else the present one.")] = None,
    catalog: Catalog = "cat_main",
    request_id: RequestId = None,
    as_json: AsJson = False,
) -> None:
    """Answer: it is this item, a new one, or none; the items are one; its key is wrong; or the question is none."""
    if (action in ("accept", "merge")) != (item is not None):
        raise CommandError("accept and merge need --item, and only they take it")
    if (action == "key_is_wrong") != (key is not None):
        raise CommandError("key_is_wrong needs --key, and only it takes it")
    with connect(tenant) as client:
        seen = revision or client.get("resolver", f"/v1/cases/{case_id}", catalog=catalog)["revision"]
        named = {"action": action, "item_id": item, "key": key, "overrules": overrule or []}
        body = {**named, "expected_revision": cast("int", seen), "rationale": because}
        path = f"/v1/cases/{case_id}/decisions?catalog={catalog}"
        decided = client.post("resolver", path, body, request_id or f"cli-{uuid7().hex}")
    if as_json:
        print_json(decided)
    else:
        show_pairs(decided)


@in_words
def pin(
    item_id: Annotated[str, typer.Argument(help="An item's id.")],
    attribute: Annotated[str, typer.Argument(help="Such as color.")],
    value: Annotated[str, typer.Argument(help="What it is; for an attribute of many values, separated by commas.")],
    tenant: Tenant,
    because: Rationale,
    catalog: Catalog = "cat_main",
    request_id: RequestId = None,
    as_json: AsJson = False,
) -> None:
    """State a value; no rule replaces it."""
    body = {"attribute": attribute, "value": value_of(attribute, value), "rationale": because}
    with connect(tenant) as client:
        path = f"/v1/items/{item_id}/pins?catalog={catalog}"
        decided = client.post("resolver", path, body, request_id or f"cli-{uuid7().hex}")
    if as_json:
        print_json(decided)
    else:
        show_pairs(decided)


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(cases, name="cases")
    app.command()(pin)
