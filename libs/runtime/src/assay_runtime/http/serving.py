"""Runs an API until it is asked to stop: first not ready, then no new requests, then the running ones end."""

import asyncio
import contextlib
import socket
from collections.abc import Generator
from typing import cast

import uvicorn
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import RouteContext, iter_route_contexts

from assay_runtime.errors import OpenRoute
from assay_runtime.health import Health
from assay_runtime.http.authentication import authenticate
from assay_runtime.logs import get_logger
from assay_runtime.settings import HttpSettings
from assay_runtime.stop import Stop

DRAIN_SECONDS = 20
HEARTBEAT_SECONDS = 1.0

log = get_logger()


class _Server(uvicorn.Server):
    """uvicorn that leaves the signals to Stop and says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


async def serve(app: FastAPI, settings: HttpSettings, stop: Stop, health: Health) -> None:
    """Serve until `stop`; raises OpenRoute before listening if a route has no scope. The event loop is the progress."""
    unguarded = open_routes(app)
    if unguarded:
        raise OpenRoute(", ".join(unguarded))
    server = _Server(_configuration(app, settings))
    serving = asyncio.create_task(server.serve())
    heart = asyncio.create_task(_beat(server, health))
    stopping = asyncio.create_task(stop.waited())
    await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    health.ready(False, "stopping")
    server.should_exit = True
    stopping.cancel()
    try:
        await serving
    finally:
        heart.cancel()


def open_routes(app: FastAPI) -> list[str]:
    """Paths of routes that no scope guards; the OpenAPI document and its pages are public by intent."""
    public = {app.openapi_url, app.docs_url, app.swagger_ui_oauth2_redirect_url}
    routes = [route for route in iter_route_contexts(app.routes) if route.path not in public]
    return [str(route.path) for route in routes if not _is_guarded(_dependant_of(route))]


def _dependant_of(route: RouteContext) -> Dependant | None:
    return cast("Dependant | None", getattr(route, "dependant", None))


def _is_guarded(dependant: Dependant | None) -> bool:
    if dependant is None:
        return False
    return dependant.call is authenticate or any(_is_guarded(inner) for inner in dependant.dependencies)


def _configuration(app: FastAPI, settings: HttpSettings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        host=settings.http_host,
        port=settings.http_port,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=DRAIN_SECONDS,
        h11_max_incomplete_event_size=16 << 10,
    )


async def _beat(server: _Server, health: Health) -> None:
    await server.listening.wait()
    port = server.servers[0].sockets[0].getsockname()[1]
    log.info("http.listening", port=port)
    health.started()
    health.ready(True)
    while True:
        health.progress()
        await asyncio.sleep(HEARTBEAT_SECONDS)
