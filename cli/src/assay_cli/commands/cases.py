"""`assay cases` and `assay pin`: the questions that rules leave to people, and what people state."""

from typing import Annotated, Literal, cast

import typer
from assay_contracts.ids import uuid7
from rich.console import Console

from assay_cli.client import connect
from assay_cli.commands.failures import in_words
from assay_cli.commands.output import AsJson, Catalog, Tenant, print_json, rows_of, show_pairs, table_of
from assay_cli.errors import CommandError
from assay_cli.statements import value_of

cases = typer.Typer(help="Questions for a person.", no_args_is_help=True)

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
        Console().print(table_of(f"{state} cases of {tenant} {catalog}", rows_of(found["cases"])))


@cases.command()
@in_words
def show(case_id: CaseId, tenant: Tenant, catalog: Catalog = "cat_main", as_json: AsJson = False) -> None:
    """Show a question: what the page states, beside each item that it may be."""
    with connect(tenant) as client:
        found = client.get("resolver", f"/v1/cases/{case_id}", catalog=catalog)
    if as_json:
        print_json(found)
    else:
        show_pairs(found)


@cases.command()
@in_words
def decide(
    case_id: CaseId,
    action: Annotated[Literal["accept", "create", "reject"], typer.Argument(help="What to do with the listing.")],
    tenant: Tenant,
    because: Rationale,
    item: Annotated[str | None, typer.Option(help="With accept: the item that it is.")] = None,
    revision: Annotated[int | None, typer.Option(help="The revision that you looked at; else the present one.")] = None,
    catalog: Catalog = "cat_main",
    request_id: RequestId = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question: accept it as an item, create a new item, or reject the listing."""
    if (action == "accept") != (item is not None):
        raise CommandError("accept needs --item, and only accept takes it")
    with connect(tenant) as client:
        seen = revision or client.get("resolver", f"/v1/cases/{case_id}", catalog=catalog)["revision"]
        body = {"action": action, "item_id": item, "expected_revision": cast("int", seen), "rationale": because}
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
