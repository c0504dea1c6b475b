"""`assay items`, `assay listings`, `assay decisions`, `assay differ`: what people decide, and undo."""

from typing import Annotated, Literal, cast

import typer
from assay_contracts.ids import uuid7
from rich.console import Console

from assay_cli.client import Client, Document, connect
from assay_cli.commands.failures import in_words
from assay_cli.commands.output import AsJson, Catalog, Tenant, print_json, rows_of, show_pairs, table_of

items = typer.Typer(help="Decide about items: two are one, one is two, one is to be hidden.", no_args_is_help=True)
listings = typer.Typer(help="Decide which item a source's page is.", no_args_is_help=True)
decisions = typer.Typer(help="What was decided, by whom and why; undo it.", no_args_is_help=True)

ItemId = Annotated[str, typer.Argument(help="An item's id.")]
ListingId = Annotated[str, typer.Argument(help="A listing's id.")]
DecisionId = Annotated[str, typer.Argument(help="A decision's id.")]
Rationale = Annotated[str, typer.Option("--because", help="Why; kept with the decision for ever.")]
RequestId = Annotated[str | None, typer.Option(help="Names this request, so that a retry decides nothing twice.")]
Overrule = Annotated[list[str] | None, typer.Option(help="The decision of a verdict that shall stand no longer.")]
Revision = Annotated[int | None, typer.Option(help="The revision that you looked at; else the present one.")]


@items.command()
@in_words
def merge(
    item_id: ItemId,
    into: Annotated[str, typer.Argument(help="The item that it is.")],
    tenant: Tenant,
    because: Rationale,
    catalog: Catalog = "cat_main",
    revision: Revision = None,
    into_revision: Revision = None,
    overrule: Overrule = None,
    request_id: RequestId = None,
    as_json: AsJson = False,
) -> None:
    """Make an item part of another; its id redirects for ever."""
    with connect(tenant) as client:
        body = {
            "into": into,
            "expected_revision": revision or _item_revision(client, catalog, item_id),
            "into_revision": into_revision or _item_revision(client, catalog, into),
            "rationale": because,
            "overrules": overrule or [],
        }
        _decide(client, f"/v1/items/{item_id}/merge", catalog, body, request_id, as_json)


@items.command()
@in_words
def split(
    item_id: ItemId,
    listing: Annotated[list[str], typer.Argument(help="Those of its listings that are another thing.")],
    tenant: Tenant,
    because: Rationale,
    catalog: Catalog = "cat_main",
    revision: Revision = None,
    request_id: RequestId = None,
    as_json: AsJson = False,
) -> None:
    """Make a new item of some of an item's listings, and keep rules from joining the two."""
    with connect(tenant) as client:
        seen = revision or _item_revision(client, catalog, item_id)
        body = {"listings": listing, "expected_revision": seen, "rationale": because}
        _decide(client, f"/v1/items/{item_id}/split", catalog, body, request_id, as_json)


@items.command()
@in_words
def retire(
    item_id: ItemId,
    tenant: Tenant,
    because: Rationale,
    reason: Annotated[Literal["not_a_product", "discontinued", "other"], typer.Option(help="In one word.")] = "other",
    catalog: Catalog = "cat_main",
    revision: Revision = None,
    request_id: RequestId = None,
    as_json: AsJson = False,
) -> None:
    """Hide an item; its listings stay with it."""
    with connect(tenant) as client:
        seen = revision or _item_revision(client, catalog, item_id)
        body = {"reason": reason, "expected_revision": seen, "rationale": because}
        _decide(client, f"/v1/items/{item_id}/retire", catalog, body, request_id, as_json)


@items.command()
@in_words
def revive(
    item_id: ItemId,
    tenant: Tenant,
    because: Rationale,
    catalog: Catalog = "cat_main",
    revision: Revision = None,
    request_id: RequestId = None,
    as_json: AsJson = False,
) -> None:
    """Show a hidden item again."""
    with connect(tenant) as client:
        seen = revision or _item_revision(client, catalog, item_id)
        body = {"expected_revision": seen, "rationale": because}
        _decide(client, f"/v1/items/{item_id}/revive", catalog, body, request_id, as_json)


@items.command()
@in_words
def unpin(
    item_id: ItemId,
    attribute: Annotated[str, typer.Argument(help="Such as color.")],
    tenant: Tenant,
    because: Rationale,
    catalog: Catalog = "cat_main",
    request_id: RequestId = None,
    as_json: AsJson = False,
) -> None:
    """Let what sources state count again, instead of a person's value."""
    with connect(tenant) as client:
        path = f"/v1/items/{item_id}/pins/{attribute}/withdraw"
        _decide(client, path, catalog, {"rationale": because}, request_id, as_json)


@listings.command(name="show")
@in_words
def show_listing(listing_id: ListingId, tenant: Tenant, catalog: Catalog = "cat_main", as_json: AsJson = False) -> None:
    """Show a listing: which item it is, at which revision, its keys, and what is asked about it."""
    with connect(tenant) as client:
        _show(client.get("resolver", f"/v1/listings/{listing_id}", catalog=catalog), as_json)


@listings.command(name="map")
@in_words
def map_listing(
    listing_id: ListingId,
    item_id: ItemId,
    tenant: Tenant,
    because: Rationale,
    catalog: Catalog = "cat_main",
    revision: Revision = None,
    overrule: Overrule = None,
    request_id: RequestId = None,
    as_json: AsJson = False,
) -> None:
    """Say which item a listing is."""
    with connect(tenant) as client:
        seen = _mapping_revision(client, catalog, listing_id) if revision is None else revision
        body = {"item_id": item_id, "expected_revision": seen, "rationale": because, "overrules": overrule or []}
        _decide(client, f"/v1/listings/{listing_id}/mapping", catalog, body, request_id, as_json)


@listings.command()
@in_words
def clear(
    listing_id: ListingId,
    tenant: Tenant,
    because: Rationale,
    catalog: Catalog = "cat_main",
    revision: Revision = None,
    request_id: RequestId = None,
    as_json: AsJson = False,
) -> None:
    """Take a listing out of its item; a case asks what it is."""
    with connect(tenant) as client:
        seen = _mapping_revision(client, catalog, listing_id) if revision is None else revision
        body = {"expected_revision": seen, "rationale": because}
        _decide(client, f"/v1/listings/{listing_id}/clear", catalog, body, request_id, as_json)


@listings.command()
@in_words
def wrong_key(
    listing_id: ListingId,
    key: Annotated[str, typer.Argument(help="As `assay listings show` names it, such as gtin:04006381333931.")],
    tenant: Tenant,
    because: Rationale,
    catalog: Catalog = "cat_main",
    revision: Revision = None,
    request_id: RequestId = None,
    as_json: AsJson = False,
) -> None:
    """Let a key that the page states count no longer."""
    with connect(tenant) as client:
        seen = _mapping_revision(client, catalog, listing_id) if revision is None else revision
        body = {"key": key, "expected_revision": seen, "rationale": because}
        _decide(client, f"/v1/listings/{listing_id}/wrong-keys", catalog, body, request_id, as_json)


@in_words
def differ(
    one: Annotated[str, typer.Argument(help="An item or a listing.")],
    other: Annotated[str, typer.Argument(help="Another.")],
    tenant: Tenant,
    because: Rationale,
    catalog: Catalog = "cat_main",
    request_id: RequestId = None,
    as_json: AsJson = False,
) -> None:
    """Say that two things differ; no rule joins them."""
    with connect(tenant) as client:
        body = {"one": one, "other": other, "rationale": because}
        _decide(client, "/v1/verdicts", catalog, body, request_id, as_json)


@decisions.command(name="list")
@in_words
def list_decisions(
    tenant: Tenant,
    catalog: Catalog = "cat_main",
    about: Annotated[str | None, typer.Option(help="An item or a listing.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many at most.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List decisions, newest first."""
    with connect(tenant) as client:
        found = client.get("resolver", "/v1/decisions", catalog=catalog, about=about, limit=limit)
    if as_json:
        print_json(found)
    else:
        Console().print(table_of(f"decisions of {tenant} {catalog}", rows_of(found["decisions"])))


@decisions.command()
@in_words
def show(decision_id: DecisionId, tenant: Tenant, catalog: Catalog = "cat_main", as_json: AsJson = False) -> None:
    """Show a decision: what it did, on what basis, and what undid it."""
    with connect(tenant) as client:
        _show(client.get("resolver", f"/v1/decisions/{decision_id}", catalog=catalog), as_json)


@decisions.command()
@in_words
def undo(
    decision_id: DecisionId,
    tenant: Tenant,
    because: Rationale,
    catalog: Catalog = "cat_main",
    partial: Annotated[bool, typer.Option("--partial", help="Leave what has changed since.")] = False,
    request_id: RequestId = None,
    as_json: AsJson = False,
) -> None:
    """Undo a decision, a rule's too; the undo is a decision and can be undone."""
    with connect(tenant) as client:
        body = {"rationale": because, "partial": partial}
        _decide(client, f"/v1/decisions/{decision_id}/undo", catalog, body, request_id, as_json)


def _item_revision(client: Client, catalog: str, item_id: str) -> int:
    found = client.get("product", f"/v1/catalogs/{catalog}/items/{item_id}")
    return cast("int", found["revision"])


def _mapping_revision(client: Client, catalog: str, listing_id: str) -> int:
    return cast("int", client.get("resolver", f"/v1/listings/{listing_id}", catalog=catalog)["revision"])


def _decide(client: Client, path: str, catalog: str, body: Document, request_id: str | None, as_json: bool) -> None:
    named = request_id or f"cli-{uuid7().hex}"
    _show(client.post("resolver", f"{path}?catalog={catalog}", body, named), as_json)


def _show(document: Document, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        show_pairs(document)


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(items, name="items")
    app.add_typer(listings, name="listings")
    app.add_typer(decisions, name="decisions")
    app.command()(differ)
