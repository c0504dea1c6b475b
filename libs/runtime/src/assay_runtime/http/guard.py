"""The outermost layer of an API: time limits, metrics, polite refusals, and the last word on what nobody handled."""

import asyncio
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import cast

from starlette.datastructures import Headers
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay_runtime.http.problems import Problem, internal, response_of
from assay_runtime.logs import get_logger
from assay_runtime.metrics import HTTP_REQUESTS, HTTP_SECONDS

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

log = get_logger()


@dataclass(frozen=True)
class Limits:
    """What one request may take; sizes in bytes of the body on the wire."""

    body_bytes: int = 1 << 20
    request_seconds: float = 30.0
    silence_seconds: float = 10.0
    """How long a client may be silent in the middle of its body."""
    drain_bytes: int = 256 << 20
    drain_seconds: float = 5.0
    """How much of a refused body is read and dropped, so that a client that sends first and reads later learns why."""


class Guard:
    """ASGI middleware, one per app."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; other kinds of connection pass untouched."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send, self._limits)
        started = time.perf_counter()
        try:
            await self._serve(scope, exchange)
            await exchange.finish()
        finally:
            _count(scope, exchange.status, time.perf_counter() - started)

    async def _serve(self, scope: Scope, exchange: "_Exchange") -> None:
        try:
            async with asyncio.timeout(self._limits.request_seconds):
                await self._app(scope, exchange.receive, exchange.send)
        except TimeoutError:
            await exchange.refuse(
                Problem(HTTPStatus.SERVICE_UNAVAILABLE, "timeout", "The request took too long", headers=_RETRY)
            )
        except Problem as problem:
            await exchange.refuse(problem)
        except Exception as error:
            log.error("http.defect", error_type=type(error).__name__, exc_info=error)
            await exchange.refuse(internal())


_RETRY = {"Retry-After": "2"}
_CLOSE = (b"connection", b"close")


class _Exchange:
    """One request and its answer, as far as they have come."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, limits: Limits) -> None:
        headers = Headers(scope=scope)
        self.status: int | None = None
        self._scope = scope
        self._receive = receive
        self._send = send
        self._limits = limits
        self._stated_bytes = _length_of(headers)
        self._read_bytes = 0
        self._is_unfinished = False
        self._body_complete = self._stated_bytes == 0 and "transfer-encoding" not in headers

    async def receive(self) -> Message:
        """The next message; Problem before the first byte of a body whose stated length is too much."""
        if self._body_complete:
            return await self._receive()
        self._refuse_excess()
        try:
            async with asyncio.timeout(self._limits.silence_seconds):
                message = await self._receive_body()
        except TimeoutError:
            raise Problem(HTTPStatus.REQUEST_TIMEOUT, "body_timeout", "The body did not arrive in time") from None
        self._refuse_excess()
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = int(message["status"])
            message = message if self._body_complete else {**message, "headers": [*message["headers"], _CLOSE]}
        elif not message.get("more_body", False) and not self._body_complete:
            message = {**message, "more_body": True}
            self._is_unfinished = True
        await self._send(message)

    async def finish(self) -> None:
        """End an answer that was given before its request was read, once the client had time to read it."""
        if self._is_unfinished:
            await self._drain()
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def refuse(self, problem: Problem) -> None:
        """Answer with a problem unless an answer has begun; then only breaking off tells the client."""
        if self.status is not None:
            raise ConnectionAbortedError("the answer had begun")
        await response_of(problem)(self._scope, self._receive, self.send)

    async def _receive_body(self) -> Message:
        message = await self._receive()
        self._read_bytes += len(message.get("body", b""))
        self._body_complete = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    def _refuse_excess(self) -> None:
        if max(self._stated_bytes, self._read_bytes) > self._limits.body_bytes:
            raise Problem(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body_too_large", "The body is larger than this API takes"
            )

    async def _drain(self) -> None:
        last_bytes = self._read_bytes + self._limits.drain_bytes
        try:
            async with asyncio.timeout(self._limits.drain_seconds):
                while self._read_bytes < last_bytes and not self._body_complete:
                    await asyncio.wait_for(self._receive_body(), self._limits.silence_seconds)
        except TimeoutError:
            return


def _length_of(headers: Headers) -> int:
    """What Content-Length says; the server has refused what is no number."""
    return int(headers.get("content-length", "0"))


def _count(scope: Scope, status: int | None, seconds: float) -> None:
    method = scope["method"] if scope["method"] in METHODS else "other"
    route = cast("BaseRoute | None", scope.get("route"))
    template = str(getattr(route, "path", "none"))
    HTTP_REQUESTS.labels(method, template, f"{status // 100}xx" if status else "aborted").inc()
    HTTP_SECONDS.labels(method, template).observe(seconds)
