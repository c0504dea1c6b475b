"""Speaks to the three HTTP APIs as one tenant: addresses and key from the environment, else from the local stack."""

import json
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, Literal, cast

import httpx

from assay_cli.errors import CommandError, Refused
from assay_cli.stack import Stack
from assay_cli.stack.installation import http_port_name
from assay_cli.stack.ports import HOST
from assay_cli.tenancy import stored_key

Service = Literal["intake", "resolver", "product"]
Document = Mapping[str, object]
SERVICES: Final[tuple[Service, ...]] = ("intake", "resolver", "product")
TIMEOUT_SECONDS = 60.0


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

    def hand_in(self, metadata: bytes, parts: Mapping[str, tuple[bytes, str]]) -> Document:
        """POST /v1/captures: the metadata first, then (bytes, media type) by part name."""
        files = {"metadata": ("metadata.json", metadata, "application/json")}
        files |= {name: (name, content, media_type) for name, (content, media_type) in parts.items()}
        return _document(self._send("intake", "POST", "/v1/captures", files=files))

    def _send(self, service: Service, method: str, path: str, **request: object) -> httpx.Response:
        address = self.addresses[service]
        try:
            answer = self.http.request(method, address + path, **request)  # pyright: ignore[reportArgumentType]
        except httpx.HTTPError as failure:
            raise CommandError(f"{service} at {address} does not answer: {failure}") from failure
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


def _address(service: Service) -> str:
    named = os.environ.get(f"ASSAY_{service.upper()}_URL")
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
    title, detail = problem.get("title"), problem.get("detail")
    return Refused(answer.status_code, str(problem.get("code")), str(title or answer.reason_phrase), str(detail or ""))
