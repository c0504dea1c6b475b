"""⑧ the catalog's read API: what is live, of the tenant whose key asks, and nothing else."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, TypeVar, cast

from assay_runtime.http import Credential, KeyRing, Problem, create_app, needs
from assay_runtime.http.problems import response_of
from fastapi import APIRouter, FastAPI, Header, Path, Query, Request, Response
from fastapi.responses import RedirectResponse

from assay_product import page_cursors, search, views
from assay_product.errors import NotLive, StalePage
from assay_product.store.queries import ItemRead, Reader, Snapshot

SCOPE = "catalog:read"
PAGE_ITEMS = 50
MAX_PAGE_ITEMS = 200

Caller = Annotated[Credential, needs(SCOPE)]
CatalogPath = Annotated[str, Path(pattern=r"^cat_[a-z0-9_]{1,60}$")]
ItemPath = Annotated[str, Path(pattern=r"^item_[A-Za-z0-9_]{1,59}$")]
NamePath = Annotated[str, Path(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Asked = Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$", description="Words to find, or a gtin.")]
After = Annotated[str | None, Query(max_length=300, description="The `next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE_ITEMS)]
Known = Annotated[str | None, Header(alias="If-None-Match", max_length=2_000)]

router = APIRouter(prefix="/v1", tags=["catalog"])
_V = TypeVar("_V", bound=views.View)


def make_app(reader: Reader, key_ring: KeyRing, *, docs: bool = False) -> FastAPI:
    """The application; its routes read through `reader`."""
    app = create_app("Assay catalog", key_ring, docs=docs)
    app.state.reader = reader
    app.add_exception_handler(NotLive, _refuse_unknown)
    app.add_exception_handler(StalePage, _refuse_stale)
    app.include_router(router)
    return app


@router.get("/catalogs")
async def list_catalogs(request: Request, caller: Caller) -> views.Catalogs:
    """The catalogs of the caller's tenant."""
    return views.catalogs(await _reader(request).catalogs(caller.tenant_id))


@router.get("/catalogs/{catalog_id}/status")
async def show_status(request: Request, caller: Caller, catalog_id: CatalogPath) -> views.Status:
    """How far the catalog's projection has come, and what holds it."""
    async with _reader(request).snapshot(caller.tenant_id, catalog_id) as snapshot:
        return views.status(snapshot.live, await snapshot.status(), await snapshot.waiting())


@router.get("/catalogs/{catalog_id}/items", response_model=views.ItemPage)
async def list_items(
    request: Request,
    response: Response,
    caller: Caller,
    catalog_id: CatalogPath,
    q: Asked = "",
    after: After = None,
    limit: Limit = PAGE_ITEMS,
    known: Known = None,
) -> views.ItemPage | Response:
    """Active items in the order in which they were made; with `q` those in which every word of it is found."""
    async with _reader(request).snapshot(caller.tenant_id, catalog_id) as snapshot:
        tag = views.etag(snapshot.live, snapshot.live.processed)
        rows = await _find(snapshot, q, page_cursors.decode(snapshot.live, after), limit + 1)
        shown = rows[:limit]
        mappings = await snapshot.mappings(row.item_id for row in shown)
        owners = [row.item_id for row in shown] + [one.listing_id for one in mappings]
        attributes = await snapshot.attributes(owners)
    following = page_cursors.encode(snapshot.live, shown[-1].item_id) if len(rows) > limit else None
    return _tagged(response, known, tag, lambda: views.page(snapshot.live, shown, mappings, attributes, following))


@router.get("/catalogs/{catalog_id}/items/{item_id}", response_model=views.ItemView)
async def show_item(
    request: Request,
    response: Response,
    caller: Caller,
    catalog_id: CatalogPath,
    item_id: ItemPath,
    known: Known = None,
) -> views.ItemView | Response:
    """An item with its values, their evidence, its listings and their offers; 307 where it was merged into another."""
    async with _reader(request).snapshot(caller.tenant_id, catalog_id) as snapshot:
        root = await _root(snapshot, item_id)
        if root.item_id != item_id:
            return RedirectResponse(_item_path(catalog_id, root.item_id))
        mappings = await snapshot.mappings([item_id])
        attributes = await snapshot.attributes([item_id, *(one.listing_id for one in mappings)])
    tag = views.item_etag(snapshot.live, root, mappings, attributes)
    return _tagged(response, known, tag, lambda: views.item(snapshot.live, root, mappings, attributes))


@router.get("/catalogs/{catalog_id}/items/{item_id}/attributes/{name}", response_model=views.ItemAttribute)
async def show_attribute(
    request: Request,
    response: Response,
    caller: Caller,
    catalog_id: CatalogPath,
    item_id: ItemPath,
    name: NamePath,
    known: Known = None,
) -> views.ItemAttribute | Response:
    """One attribute of an item with its evidence; 307 where the item was merged into another."""
    async with _reader(request).snapshot(caller.tenant_id, catalog_id) as snapshot:
        root = await _root(snapshot, item_id)
        if root.item_id != item_id:
            return RedirectResponse(f"{_item_path(catalog_id, root.item_id)}/attributes/{name}")
        rows = [one for one in await snapshot.attributes([item_id]) if one.name == name]
    view = views.attribute(snapshot.live, item_id, rows)
    if not view.lines:
        raise _not_found()
    tag = views.item_etag(snapshot.live, root, [], rows)
    return _tagged(response, known, tag, lambda: view)


async def _find(snapshot: Snapshot, query: str, after: str, limit: int) -> list[ItemRead]:
    words = search.patterns(query)
    if not words:
        return await snapshot.items(after, limit)
    return await snapshot.matching(words, after, limit)


async def _root(snapshot: Snapshot, item_id: str) -> ItemRead:
    root = await snapshot.root(item_id)
    if root is None:
        raise _not_found()
    return root


def _tagged(response: Response, known: str | None, tag: str, make: Callable[[], _V]) -> _V | Response:
    """The document with its tag, or 304 to who has it already."""
    if tag in {one.strip().removeprefix("W/") for one in (known or "").split(",")}:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": tag})
    response.headers["ETag"] = tag
    return make()


def _item_path(catalog_id: str, item_id: str) -> str:
    return f"/v1/catalogs/{catalog_id}/items/{item_id}"


def _reader(request: Request) -> Reader:
    return cast("Reader", request.app.state.reader)


def _not_found() -> Problem:
    return Problem(HTTPStatus.NOT_FOUND, "not_found", "There is nothing of this name")


async def _refuse_unknown(_request: Request, _error: Exception) -> Response:
    return response_of(_not_found())


async def _refuse_stale(_request: Request, _error: Exception) -> Response:
    return response_of(Problem(HTTPStatus.GONE, "stale_page", "The list was built anew", "Begin at the first page"))
