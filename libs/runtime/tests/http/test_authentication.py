"""Keys and scopes: nobody enters a route by accident, and no refusal says which part of a key was wrong."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated

import httpx
import psycopg
import pytest
from assay_contracts.ids import TenantId
from assay_runtime import keys
from assay_runtime.http import Credential, KeyRing, StoredKey, create_app, needs, open_routes
from fastapi import APIRouter
from pydantic import SecretStr

PEPPER = SecretStr("pepper-of-the-tests")
GOOD, REVOKED, UNKNOWN = keys.mint(PEPPER), keys.mint(PEPPER), keys.mint(PEPPER)
TENANT = TenantId("ten_a")
SCOPES = frozenset({"captures:write"})
STORED = {
    GOOD.key_id: StoredKey(TENANT, GOOD.mac, SCOPES, None),
    REVOKED.key_id: StoredKey(TENANT, REVOKED.mac, SCOPES, datetime(2026, 1, 1, tzinfo=UTC)),
}


async def find(key_id: str) -> StoredKey | None:
    return STORED.get(key_id)


async def find_nowhere(_key_id: str) -> StoredKey | None:
    await psycopg.AsyncConnection.connect("postgresql://nobody@127.0.0.1:1/nothing")


routes = APIRouter(prefix="/v1")


@routes.get("/captures")
async def list_captures(credential: Annotated[Credential, needs("captures:write")]) -> dict[str, str]:
    return {"tenant": credential.tenant_id}


@routes.get("/cases")
async def list_cases(credential: Annotated[Credential, needs("captures:write", "cases:decide")]) -> dict[str, str]:
    return {"tenant": credential.tenant_id}


@routes.get("/undecided")
async def list_undecided(credential: Annotated[Credential, needs()]) -> dict[str, str]:
    return {"tenant": credential.tenant_id}


def client_of(ring: KeyRing) -> httpx.AsyncClient:
    app = create_app("tests", ring)
    app.include_router(routes)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://tests")


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(KeyRing(PEPPER, find)) as client:
        yield client


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


GOOD_TEXT = GOOD.text.get_secret_value()


async def test_a_key_leads_to_its_tenant(client: httpx.AsyncClient) -> None:
    answer = await client.get("/v1/captures", headers=bearer(GOOD_TEXT))
    assert (answer.status_code, answer.json()) == (200, {"tenant": "ten_a"})


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": GOOD_TEXT},
        {"Authorization": f"Basic {GOOD_TEXT}"},
        bearer(""),
        bearer("assay"),
        bearer(GOOD_TEXT[:-1]),
        bearer(UNKNOWN.text.get_secret_value()),
        bearer(REVOKED.text.get_secret_value()),
    ],
)
async def test_every_wrong_key_gets_the_same_answer(client: httpx.AsyncClient, headers: dict[str, str]) -> None:
    answer = await client.get("/v1/captures", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "unauthenticated"
    assert answer.text == (await client.get("/v1/captures")).text


async def test_a_key_of_another_secret_under_a_known_id_is_wrong(client: httpx.AsyncClient) -> None:
    forged = keys.mint(SecretStr("another pepper of tests"))
    STORED[forged.key_id] = StoredKey(TENANT, GOOD.mac, SCOPES, None)
    assert (await client.get("/v1/captures", headers=bearer(forged.text.get_secret_value()))).status_code == 401


async def test_a_missing_scope_is_named(client: httpx.AsyncClient) -> None:
    answer = await client.get("/v1/cases", headers=bearer(GOOD_TEXT))
    assert (answer.status_code, answer.json()["code"], answer.json()["detail"]) == (403, "forbidden", "cases:decide")


async def test_a_route_that_wants_no_scope_lets_nobody_in(client: httpx.AsyncClient) -> None:
    assert (await client.get("/v1/undecided", headers=bearer(GOOD_TEXT))).status_code == 403


async def test_a_key_is_not_refused_because_the_database_is_away() -> None:
    async with client_of(KeyRing(PEPPER, find_nowhere)) as client:
        answer = await client.get("/v1/captures", headers=bearer(GOOD_TEXT))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")


def test_a_route_without_a_key_is_found() -> None:
    app = create_app("tests", KeyRing(PEPPER, find), docs=True)
    inner = APIRouter(prefix="/inner")

    @inner.get("/open")
    async def answer() -> None: ...

    app.include_router(routes)
    app.include_router(inner, prefix="/v1")
    app.add_api_route("/bare", answer)
    assert open_routes(app) == ["/v1/inner/open", "/bare"]
