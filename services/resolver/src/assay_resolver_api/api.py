"""The application: its routes, its keys, and how the core's refusals look from outside."""

from assay_contracts import bounds
from assay_resolver.errors import ResolverError
from assay_runtime.http import KeyRing, Limits, StoredKey, create_app
from assay_runtime.http.problems import response_of
from fastapi import FastAPI, Request, Response

from assay_resolver_api import cases, dead_letters, decisions, items, listings, store
from assay_resolver_api.context import Context
from assay_resolver_api.errors import problem_of
from assay_resolver_api.settings import ApiSettings


def build_app(settings: ApiSettings, context: Context) -> FastAPI:
    """The application over one pool and one bucket."""

    async def find_key(key_id: str) -> StoredKey | None:
        return await store.find_key(context.pool, key_id)

    limits = Limits(body_bytes=bounds.DOCUMENT_BYTES)
    app = create_app("Assay resolver", KeyRing(settings.key_pepper, find_key), limits, docs=settings.http_docs)
    app.state.context = context
    for module in (cases, items, listings, decisions, dead_letters):
        app.include_router(module.router)
    app.add_exception_handler(ResolverError, _refuse)
    return app


async def _refuse(_request: Request, error: Exception) -> Response:
    assert isinstance(error, ResolverError)
    return response_of(problem_of(error))
