"""The application: its routes and its keys."""

from assay_runtime.http import KeyRing, Limits, StoredKey, create_app
from fastapi import FastAPI

from assay_relay.api import consumers, leases, streams
from assay_relay.api.context import Context
from assay_relay.store import retention as store


def build_app(context: Context) -> FastAPI:
    """The application over one pool and one bucket."""

    async def find_key(key_id: str) -> StoredKey | None:
        return await store.find_key(context.pool, key_id)

    settings = context.settings
    limits = Limits(request_seconds=settings.snapshot_seconds)
    app = create_app("Assay relay", KeyRing(settings.key_pepper, find_key), limits, docs=settings.http_docs)
    app.state.context = context
    for module in (consumers, leases, streams):
        app.include_router(module.router)
    return app
