"""⑤ Items over HTTP: what a person decides about them, the values that one states, and why a value is there."""

import hashlib
from dataclasses import asdict
from http import HTTPStatus
from typing import Annotated

from assay_contracts.ids import TenantId
from assay_resolver import facts, items, lineage, pins, placing
from assay_resolver.decisions import Asked, Decided
from assay_resolver.errors import UnknownItem
from assay_resolver.pins import PinRequest
from assay_resolver.streams import Connection
from assay_runtime.http import Credential, needs
from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import Field

from assay_resolver_api import deciding, documents, store, views
from assay_resolver_api.context import AppContext, CatalogId, ItemId, RequestId
from assay_resolver_api.deciding import Item, Listing, Overruling, Reason, Seen

router = APIRouter(prefix="/v1/items", tags=["items"])

_NAME = r"^[a-z][a-z0-9_]{0,63}$"


class Statement(Reason):
    """A person's value for an item's attribute: a tagged value of the contracts, a list where there may be many."""

    attribute: Annotated[str, Field(pattern=_NAME)]
    value: dict[str, object]


class Merge(Overruling):
    """The item is `into`; both as they were at the revisions that were looked at."""

    into: Item
    expected_revision: Seen
    into_revision: Seen


class Split(Reason):
    """These of the item's listings are another thing."""

    listings: Annotated[list[Listing], Field(min_length=1, max_length=placing.MAX_LISTINGS)]
    expected_revision: Seen


class Retirement(Reason):
    """Why the item is hidden, in one word and in words."""

    reason: items.Reason
    expected_revision: Seen


class Revival(Reason):
    """The item is to be seen again."""

    expected_revision: Seen


@router.post(
    "/{item_id}/pins",
    status_code=HTTPStatus.CREATED,
    openapi_extra=documents.body_of(Statement),
    responses={HTTPStatus.OK: {"model": views.DecisionView, "description": "It was pinned by this request before."}},
)
async def pin_value(
    request: Request,
    response: Response,
    context: AppContext,
    credential: Annotated[Credential, needs("cases:decide")],
    item_id: ItemId,
    catalog_id: CatalogId,
    request_id: RequestId,
) -> views.DecisionView:
    """State a value that no rule replaces; the statement is stored as evidence before it takes effect.

    For an item that does not exist nothing is stored.
    """
    stated = await documents.read(request, Statement)
    pins.check_value(stated.attribute, stated.value)
    tenant_id = credential.tenant_id
    async with store.reading(context.pool, tenant_id) as connection:
        stream = await store.stream_of(connection, tenant_id, catalog_id)
        if not await facts.item_revisions(connection, stream, [item_id]):
            raise UnknownItem
    wanted = PinRequest(
        stream, item_id, stated.attribute, stated.value, request_id, deciding.actor(credential), stated.rationale
    )
    statement = wanted.statement()
    await context.bucket.put(tenant_id, hashlib.sha256(statement).hexdigest(), statement, pins.MEDIA_TYPE)
    async with store.deciding(context.pool, tenant_id, catalog_id) as (connection, _):
        decided = await pins.pin_value(connection, wanted)
    return deciding.report(response, decided, "pin")


@router.post(
    "/{item_id}/pins/{attribute}/withdraw",
    status_code=HTTPStatus.CREATED,
    openapi_extra=documents.body_of(Reason),
    responses=deciding.RESPONSES,
)
async def withdraw_pin(
    request: Request,
    response: Response,
    context: AppContext,
    credential: Annotated[Credential, needs("cases:decide")],
    item_id: ItemId,
    attribute: Annotated[str, Path(pattern=_NAME)],
    catalog_id: CatalogId,
    request_id: RequestId,
) -> views.DecisionView:
    """Let what sources state count again."""
    reason = await documents.read(request, Reason)

    async def act(connection: Connection, asked: Asked) -> Decided:
        return await pins.withdraw_pin(connection, asked, item_id, attribute)

    decided = await deciding.decide(context, credential, catalog_id, request_id, reason, "unpin", act)
    return deciding.report(response, decided, "unpin")


@router.post(
    "/{item_id}/merge",
    status_code=HTTPStatus.CREATED,
    openapi_extra=documents.body_of(Merge),
    responses=deciding.RESPONSES,
)
async def merge(
    request: Request,
    response: Response,
    context: AppContext,
    credential: Annotated[Credential, needs("cases:decide")],
    item_id: ItemId,
    catalog_id: CatalogId,
    request_id: RequestId,
) -> views.DecisionView:
    """Make the item part of another: its listings move there, its id redirects for ever."""
    wanted = await documents.read(request, Merge)

    async def act(connection: Connection, asked: Asked) -> Decided:
        seen = {item_id: wanted.expected_revision, wanted.into: wanted.into_revision}
        return await items.merge(connection, asked, seen, item_id, wanted.into)

    decided = await deciding.decide(context, credential, catalog_id, request_id, wanted, "merge", act)
    return deciding.report(response, decided, "merge")


@router.post(
    "/{item_id}/split",
    status_code=HTTPStatus.CREATED,
    openapi_extra=documents.body_of(Split),
    responses=deciding.RESPONSES,
)
async def split(
    request: Request,
    response: Response,
    context: AppContext,
    credential: Annotated[Credential, needs("cases:decide")],
    item_id: ItemId,
    catalog_id: CatalogId,
    request_id: RequestId,
) -> views.DecisionView:
    """Make a new item of some of the item's listings; a verdict keeps rules from joining the two."""
    wanted = await documents.read(request, Split)

    async def act(connection: Connection, asked: Asked) -> Decided:
        seen = {item_id: wanted.expected_revision}
        return await items.split(connection, asked, seen, item_id, wanted.listings)

    decided = await deciding.decide(context, credential, catalog_id, request_id, wanted, "split", act)
    return deciding.report(response, decided, "split")


@router.post(
    "/{item_id}/retire",
    status_code=HTTPStatus.CREATED,
    openapi_extra=documents.body_of(Retirement),
    responses=deciding.RESPONSES,
)
async def retire(
    request: Request,
    response: Response,
    context: AppContext,
    credential: Annotated[Credential, needs("cases:decide")],
    item_id: ItemId,
    catalog_id: CatalogId,
    request_id: RequestId,
) -> views.DecisionView:
    """Hide the item; its listings stay with it."""
    wanted = await documents.read(request, Retirement)

    async def act(connection: Connection, asked: Asked) -> Decided:
        return await items.retire(connection, asked, {item_id: wanted.expected_revision}, item_id, wanted.reason)

    decided = await deciding.decide(context, credential, catalog_id, request_id, wanted, "retire", act)
    return deciding.report(response, decided, "retire")


@router.post(
    "/{item_id}/revive",
    status_code=HTTPStatus.CREATED,
    openapi_extra=documents.body_of(Revival),
    responses=deciding.RESPONSES,
)
async def revive(
    request: Request,
    response: Response,
    context: AppContext,
    credential: Annotated[Credential, needs("cases:decide")],
    item_id: ItemId,
    catalog_id: CatalogId,
    request_id: RequestId,
) -> views.DecisionView:
    """Show a hidden item again."""
    wanted = await documents.read(request, Revival)

    async def act(connection: Connection, asked: Asked) -> Decided:
        return await items.revive(connection, asked, {item_id: wanted.expected_revision}, item_id)

    decided = await deciding.decide(context, credential, catalog_id, request_id, wanted, "revive", act)
    return deciding.report(response, decided, "revive")


@router.get("/{item_id}/lineage")
async def explain_item(
    context: AppContext,
    credential: Annotated[Credential, needs("lineage:read")],
    item_id: ItemId,
    catalog_id: CatalogId,
    attribute: Annotated[str | None, Query(pattern=_NAME)] = None,
) -> views.LineageView:
    """From each accepted value to its decision, its facts and their places, the bytes and their receipts."""
    tenant_id: TenantId = credential.tenant_id
    async with store.reading(context.pool, tenant_id) as connection:
        stream = await store.stream_of(connection, tenant_id, catalog_id)
        found = await lineage.explain_item(connection, stream, item_id, attribute)
    attributes = [views.AttributeLineage.model_validate(asdict(one)) for one in found]
    return views.LineageView(item_id=item_id, catalog_id=catalog_id, attributes=attributes)
