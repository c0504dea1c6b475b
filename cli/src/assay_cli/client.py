"""Speaks to the three HTTP APIs as one tenant: addresses and key from the environment, else from the local stack."""

import json
import os
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Literal, cast

import httpx

from assay_cli.errors import CommandError, Refused
from assay_cli.stack import Stack, service_keys
from assay_cli.stack.installation import http_port_name
from assay_cli.stack.ports import HOST
from assay_cli.tenancy import stored_key

Service = Literal["intake", "resolver", "product", "relay-api"]
Document = Mapping[str, object]
SERVICES: Final[tuple[Service, ...]] = ("intake", "resolver", "product")
TIMEOUT_SECONDS = 60.0
AWAY_SECONDS = 20.0
PAUSE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Client:
    """One tenant's connection; every call returns the JSON document or raises Refused or CommandError."""

    http: httpx.Client
    addresses: Mapping[Service, str]

    def get(self, service: Service, path: str, **query: str | int | None) -> Document:
        """Ask a service."""
        stated = {name: value for name, value in query.items() if value is not None}
        return _document(self._send(service, "GET", path, params=stated))

    def get_bytes(self, service: Service, path: str) -> bytes:
        """Fetch evidence."""
        return self._send(service, "GET", path).content

    def post(self, service: Service, path: str, body: Document, idempotency_key: str) -> Document:
        """Ask for a decision; repeating it with the same key gets the first answer."""
        return _document(
            self._send(service, "POST", path, json=dict(body), headers={"Idempotency-Key": idempotency_key})
        )

    def put(self, service: Service, path: str, body: Document) -> Document:
        """Bring something into a state; repeating it changes nothing."""
        return _document(self._send(service, "PUT", path, json=dict(body)))

    def delete(self, service: Service, path: str, **query: str) -> None:
        """Remove something."""
        self._send(service, "DELETE", path, params=query)

    def hand_in(self, metadata: bytes, parts: Mapping[str, tuple[bytes, str]]) -> Document:
        """POST /v1/captures: the metadata first, then (bytes, media type) by part name."""
        files = {"metadata": ("metadata.json", metadata, "application/json")}
        files |= {name: (name, content, media_type) for name, (content, media_type) in parts.items()}
        return _document(self._send("intake", "POST", "/v1/captures", files=files))

    def _send(self, service: Service, method: str, path: str, **request: object) -> httpx.Response:
        """Send it, again while a dependency of the service is away: every request may be sent twice."""
        address, deadline = self.addresses[service], time.monotonic() + AWAY_SECONDS
        while True:
            try:
                answer = self.http.request(method, address + path, **request)  # pyright: ignore[reportArgumentType]
            except httpx.HTTPError as failure:
                raise CommandError(f"{service} at {address} does not answer ({failure}): assay status") from failure
            if answer.status_code != HTTPStatus.SERVICE_UNAVAILABLE or time.monotonic() > deadline:
                break
            time.sleep(PAUSE_SECONDS)
        if answer.is_error:
            raise _refusal(answer)
        return answer


@contextmanager
def connect(tenant_id: str) -> Generator[Client]:
    """Speak as a tenant: ASSAY_API_KEY and ASSAY_INTAKE_URL, …, else the key and the ports of the local stack."""
    key = os.environ.get("ASSAY_API_KEY") or stored_key(Stack().installation, tenant_id)
    if key is None:
        raise CommandError(f"no API key for {tenant_id}: make one with `assay tenant add {tenant_id}`")
    addresses: dict[Service, str] = {service: _address(service) for service in SERVICES}
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(headers=headers, timeout=TIMEOUT_SECONDS, trust_env=False, follow_redirects=True) as http:
        yield Client(http, addresses)


@contextmanager
def connect_to_relay() -> Generator[Client]:
    """Speak as the operator to the relay's API: ASSAY_SERVICE_KEY and ASSAY_RELAY_API_URL, else the local stack's."""
    key = os.environ.get("ASSAY_SERVICE_KEY") or service_keys.stored(Stack().layout, service_keys.OPERATOR)
    if key is None:
        raise CommandError("no service key: name one in ASSAY_SERVICE_KEY, or start the local stack with `assay up`")
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(headers=headers, timeout=TIMEOUT_SECONDS, trust_env=False) as http:
        yield Client(http, {"relay-api": _address("relay-api")})


def _address(service: Service) -> str:
    named = os.environ.get(f"ASSAY_{service.upper().replace('-', '_')}_URL")
    if named:
        return named.rstrip("/")
    port = Stack().installation.ports.get(http_port_name(service))
    if port is None:
        raise CommandError("nothing runs here yet: start it with `assay up`")
    return f"http://{HOST}:{port}"


def _document(answer: httpx.Response) -> Document:
    return cast("Document", answer.json())


def _refusal(answer: httpx.Response) -> Refused:
    problem: Document = {}
    with suppress(json.JSONDecodeError):
        problem = _document(answer)
    title, detail = str(problem.get("title") or answer.reason_phrase), str(problem.get("detail") or "")
    return Refused(answer.status_code, str(problem.get("code")), title, "" if detail == title else detail)
