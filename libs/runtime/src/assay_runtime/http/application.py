"""Makes the FastAPI application of an API with everything that none may lack."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from fastapi import FastAPI

from assay_runtime.http import problems
from assay_runtime.http.authentication import KeyRing
from assay_runtime.http.guard import Guard, Limits

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def create_app(
    title: str,
    key_ring: KeyRing,
    limits: Limits | None = None,
    *,
    version: str = "1",
    docs: bool = False,
    lifespan: Lifespan | None = None,
) -> FastAPI:
    """An app whose routes ask `key_ring`, answer with problems and keep `limits`; `docs` shows the browsable pages."""
    limits = limits or Limits()
    app = FastAPI(
        title=title,
        version=version,
        docs_url="/docs" if docs else None,
        redoc_url=None,
        lifespan=lifespan,
    )
    key_ring.install(app)
    problems.install(app)
    app.add_middleware(Guard, limits=limits)
    return app
