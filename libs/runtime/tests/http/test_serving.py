"""A real server: it starts only guarded, counts what it answers, bounds what it takes and ends what it began."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field

import httpx
import pytest
from assay_runtime.errors import OpenRoute
from assay_runtime.health import Health
from assay_runtime.http import KeyRing, Limits, StoredKey, create_app, serve, serving
from assay_runtime.settings import HttpSettings
from assay_runtime.stop import Stop
from fastapi import FastAPI, Request
from prometheus_client import REGISTRY
from pydantic import SecretStr

LIMITS = Limits(body_bytes=100_000, request_seconds=1.0, silence_seconds=0.2, drain_seconds=5.0)
DEADLINE_SECONDS = 20


@dataclass
class Served:
    """A running server and what a test does with it."""

    port: int
    stop: Stop
    health: Health
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    leave: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


async def nobody(_key_id: str) -> StoredKey | None:
    return None


def make_app(served: Served) -> FastAPI:
    app = create_app("tests", KeyRing(SecretStr("pepper-of-the-tests"), nobody), LIMITS)

    @app.post("/bodies/{name}")
    async def count(name: str, request: Request) -> int:
        return len(await request.body())

    @app.get("/wait")
    async def wait() -> str:
        served.entered.set()
        await served.leave.wait()
        return "done"

    return app


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.asynccontextmanager
async def running(served: Served) -> AsyncGenerator[asyncio.Task[None]]:
    settings = HttpSettings(http_port=served.port)
    task = asyncio.create_task(serve(make_app(served), settings, served.stop, served.health))
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not served.health.is_ready()[0] and not task.done():
            await asyncio.wait({task}, timeout=0.01)
    yield task
    served.stop.set()
    await asyncio.wait_for(task, DEADLINE_SECONDS)


def no_open_routes(_app: FastAPI) -> list[str]:
    return []


@pytest.fixture
async def served(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    monkeypatch.setattr(serving, "open_routes", no_open_routes)
    served = Served(free_port(), Stop(install=False), Health())
    async with running(served):
        yield served


async def test_an_open_route_keeps_the_server_from_starting() -> None:
    served = Served(free_port(), Stop(install=False), Health())
    with pytest.raises(OpenRoute, match=r"/bodies/\{name\}, /wait"):
        await serve(make_app(served), HttpSettings(http_port=served.port), served.stop, served.health)


async def test_a_stop_lets_a_running_request_end(served: Served) -> None:
    async with httpx.AsyncClient(base_url=served.url) as client:
        answer = asyncio.create_task(client.get("/wait"))
        await asyncio.wait_for(served.entered.wait(), DEADLINE_SECONDS)
        served.stop.set()
        async with asyncio.timeout(DEADLINE_SECONDS):
            while served.health.is_ready()[0]:
                await asyncio.wait({answer}, timeout=0.01)
        served.leave.set()
        assert (await answer).json() == "done"


async def test_a_route_that_takes_too_long_is_cut_off(served: Served) -> None:
    async with httpx.AsyncClient(base_url=served.url) as client:
        answer = await client.get("/wait")
    assert (answer.status_code, answer.json()["code"], answer.headers["retry-after"]) == (503, "timeout", "2")


async def test_requests_are_counted_by_template(served: Served) -> None:
    labels = {"method": "POST", "route": "/bodies/{name}", "status_class": "2xx"}
    before = REGISTRY.get_sample_value("assay_http_requests_total", labels) or 0
    async with httpx.AsyncClient(base_url=served.url) as client:
        assert (await client.post("/bodies/secret-name", content=b"12345")).json() == 5
    assert REGISTRY.get_sample_value("assay_http_requests_total", labels) == before + 1


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_client_that_sends_everything_first_still_reads_why(served: Served, chunked: bool) -> None:
    body = bytes(20_000_000)
    framed = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if chunked else body
    framing = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % len(body)
    answer = await say(served, b"POST /bodies/x HTTP/1.1\r\nHost: tests\r\n" + framing + b"\r\n\r\n" + framed)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"body_too_large" in answer


async def test_a_body_that_stops_arriving_is_given_up(served: Served) -> None:
    answer = await say(served, b"POST /bodies/x HTTP/1.1\r\nHost: tests\r\nContent-Length: 10\r\n\r\n12345")
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"body_timeout" in answer


async def say(served: Served, text: bytes) -> bytes:
    """Send everything, then read until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            writer.write(text)
            await writer.drain()
            return await reader.read()
    finally:
        writer.close()
