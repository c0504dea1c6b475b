"""⑤ An item's values over HTTP: a person states one, anyone asks why one is there."""

import hashlib
from dataclasses import asdict
from http import HTTPStatus
from typing import Annotated

from assay_contracts.ids import TenantId
from assay_resolver import lineage, pins
from assay_resolver.pins import PinRequest
from assay_runtime.http import Credential, needs
from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from assay_resolver_api import documents, store, views
from assay_resolver_api.cases import Rationale, actor, report
from assay_resolver_api.context import AppContext, CatalogId, ItemId, RequestId
from assay_resolver_api.documents import Document

router = APIRouter(prefix="/v1/items", tags=["items"])

_NAME = r"^[a-z][a-z0-9_]{0,63}$"


class Statement(Document):
    """A person's value for an item's attribute: a tagged value of the contracts, a list where there may be many."""

    attribute: Annotated[str, Field(pattern=_NAME)]
    value: dict[str, object]
    rationale: Rationale


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
    """State a value that no rule replaces; the statement is stored as evidence before it takes effect."""
    stated = await documents.read(request, Statement)
    pins.check_value(stated.attribute, stated.value)
    tenant_id = credential.tenant_id
    async with store.reading(context.pool, tenant_id) as connection:
        stream = await store.stream_of(connection, tenant_id, catalog_id)
    wanted = PinRequest(
        stream, item_id, stated.attribute, stated.value, request_id, actor(credential), stated.rationale
    )
    statement = wanted.statement()
    await context.bucket.put(tenant_id, hashlib.sha256(statement).hexdigest(), statement, pins.MEDIA_TYPE)
    async with store.deciding(context.pool, tenant_id, catalog_id) as (connection, _):
        decided = await pins.pin_value(connection, wanted)
    return report(response, decided, "pin")


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
