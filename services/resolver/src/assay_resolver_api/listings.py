"""⑤ Listings over HTTP: which item one is, by a person's word; what it differs from; which of its keys is wrong."""

from http import HTTPStatus
from typing import Annotated

from assay_contracts import bounds
from assay_resolver import decision_view, mappings
from assay_resolver.decisions import Asked, Decided
from assay_resolver.identity import Key
from assay_resolver.streams import Connection
from assay_runtime.http import Credential, needs
from fastapi import APIRouter, Request, Response
from pydantic import Field

from assay_resolver_api import deciding, documents, store, views
from assay_resolver_api.cases import KeyName
from assay_resolver_api.context import AppContext, CatalogId, ListingId, RequestId
from assay_resolver_api.deciding import Item, Overruling, Reason

router = APIRouter(prefix="/v1", tags=["listings"])

SeenMapping = Annotated[int, Field(ge=0, le=bounds.POSITION)]
Thing = Annotated[str, Field(pattern=r"^(item|lst)_[A-Za-z0-9_]{1,59}$")]


class Mapping(Overruling):
    """The listing is this item; its mapping as it was at `expected_revision`, 0 before the first."""

    item_id: Item
    expected_revision: SeenMapping


class Clearing(Reason):
    """The listing is not the item that it is mapped to."""

    expected_revision: SeenMapping


class WrongKey(Reason):
    """An exact key that the page states, `gtin:…` or `brand_mpn:…`, is not the thing's."""

    key: KeyName
    expected_revision: SeenMapping


class Difference(Reason):
    """Two items, two listings, or an item and a listing are not the same."""

    one: Thing
    other: Thing


@router.get("/listings/{listing_id}")
async def show_listing(
    context: AppContext,
    credential: Annotated[Credential, needs("cases:read")],
    listing_id: ListingId,
    catalog_id: CatalogId,
) -> views.WholeListingView:
    """Which item a listing is, at which revision of its mapping, by which keys it is found, what is asked about it."""
    async with store.reading(context.pool, credential.tenant_id) as connection:
        stream = await store.stream_of(connection, credential.tenant_id, catalog_id)
        return views.WholeListingView.model_validate(await decision_view.show_listing(connection, stream, listing_id))


@router.post(
    "/listings/{listing_id}/mapping",
    status_code=HTTPStatus.CREATED,
    openapi_extra=documents.body_of(Mapping),
    responses=deciding.RESPONSES,
)
async def set_mapping(
    request: Request,
    response: Response,
    context: AppContext,
    credential: Annotated[Credential, needs("cases:decide")],
    listing_id: ListingId,
    catalog_id: CatalogId,
    request_id: RequestId,
) -> views.DecisionView:
    """Say which item the listing is, whatever it was mapped to."""
    wanted = await documents.read(request, Mapping)

    async def act(connection: Connection, asked: Asked) -> Decided:
        seen = wanted.expected_revision
        return await mappings.set_mapping(connection, asked, seen, listing_id, wanted.item_id)

    decided = await deciding.decide(context, credential, catalog_id, request_id, wanted, "map", act)
    return deciding.report(response, decided, "map")


@router.post(
    "/listings/{listing_id}/clear",
    status_code=HTTPStatus.CREATED,
    openapi_extra=documents.body_of(Clearing),
    responses=deciding.RESPONSES,
)
async def clear_mapping(
    request: Request,
    response: Response,
    context: AppContext,
    credential: Annotated[Credential, needs("cases:decide")],
    listing_id: ListingId,
    catalog_id: CatalogId,
    request_id: RequestId,
) -> views.DecisionView:
    """Take the listing out of its item: a verdict keeps rules from putting it back, and a case asks what it is."""
    wanted = await documents.read(request, Clearing)

    async def act(connection: Connection, asked: Asked) -> Decided:
        return await mappings.clear_mapping(connection, asked, wanted.expected_revision, listing_id)

    decided = await deciding.decide(context, credential, catalog_id, request_id, wanted, "clear", act)
    return deciding.report(response, decided, "clear")


@router.post(
    "/listings/{listing_id}/wrong-keys",
    status_code=HTTPStatus.CREATED,
    openapi_extra=documents.body_of(WrongKey),
    responses=deciding.RESPONSES,
)
async def call_key_wrong(
    request: Request,
    response: Response,
    context: AppContext,
    credential: Annotated[Credential, needs("cases:decide")],
    listing_id: ListingId,
    catalog_id: CatalogId,
    request_id: RequestId,
) -> views.DecisionView:
    """Let a key of the listing count no longer; where the listing is mapped it stays."""
    wanted = await documents.read(request, WrongKey)

    async def act(connection: Connection, asked: Asked) -> Decided:
        key = Key.named(wanted.key)
        return await mappings.call_key_wrong(connection, asked, wanted.expected_revision, listing_id, key)

    decided = await deciding.decide(context, credential, catalog_id, request_id, wanted, "key_is_wrong", act)
    return deciding.report(response, decided, "key_is_wrong")


@router.post(
    "/verdicts",
    status_code=HTTPStatus.CREATED,
    openapi_extra=documents.body_of(Difference),
    responses=deciding.RESPONSES,
)
async def say_differ(
    request: Request,
    response: Response,
    context: AppContext,
    credential: Annotated[Credential, needs("cases:decide")],
    catalog_id: CatalogId,
    request_id: RequestId,
) -> views.DecisionView:
    """Say that two things differ: no rule joins them, nor anything that became one with them."""
    wanted = await documents.read(request, Difference)

    async def act(connection: Connection, asked: Asked) -> Decided:
        return await mappings.say_differ(connection, asked, wanted.one, wanted.other)

    decided = await deciding.decide(context, credential, catalog_id, request_id, wanted, "differ", act)
    return deciding.report(response, decided, "differ")
