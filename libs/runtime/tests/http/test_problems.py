"""Refusals: one document shape, stable codes, and nothing of ours or of the request's values in them."""

from collections.abc import Callable

import httpx
import psycopg
import pytest
from assay_contracts.errors import InvalidMessage
from assay_runtime.errors import EvidenceUnavailable, KafkaUnavailable
from assay_runtime.http import KeyRing, Problem, StoredKey, create_app
from fastapi import FastAPI
from psycopg_pool import PoolTimeout
from pydantic import BaseModel, SecretStr


class Document(BaseModel):
    """A body."""

    count: int


async def nobody(_key_id: str) -> StoredKey | None:
    return None


@pytest.fixture
def app() -> FastAPI:
    return create_app("tests", KeyRing(SecretStr("pepper-of-the-tests"), nobody))


async def answer_to(app: FastAPI, error: Exception) -> httpx.Response:
    async def fail() -> None:
        raise error

    app.add_api_route("/fail", fail)
    return await request(app, lambda client: client.build_request("GET", "/fail"))


async def request(app: FastAPI, build: Callable[[httpx.AsyncClient], httpx.Request]) -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://tests") as client:
        return await client.send(build(client))


@pytest.mark.parametrize(
    "error",
    [
        PoolTimeout("no connection"),
        psycopg.OperationalError("server closed the connection"),
        psycopg.errors.AdminShutdown("terminating"),
        psycopg.errors.SerializationFailure("could not serialize"),
        KafkaUnavailable("no acknowledgement"),
        EvidenceUnavailable("no answer"),
    ],
)
async def test_an_outage_asks_to_come_back(app: FastAPI, error: Exception) -> None:
    answer = await answer_to(app, error)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert answer.json()["code"] == "unavailable"
    assert str(error) not in answer.text


@pytest.mark.parametrize("error", [ValueError("hunter2"), psycopg.errors.UniqueViolation("hunter2")])
async def test_a_defect_says_only_that_it_is_ours(app: FastAPI, error: Exception) -> None:
    answer = await answer_to(app, error)
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "hunter2" not in answer.text


async def test_a_problem_keeps_its_members(app: FastAPI) -> None:
    problem = Problem(409, "key_reused", "The idempotency key is taken", "Another body came first", more={"n": 1})
    answer = await answer_to(app, problem)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json() == {
        "type": "urn:assay:problem:key_reused",
        "title": "The idempotency key is taken",
        "status": 409,
        "detail": "Another body came first",
        "code": "key_reused",
        "n": 1,
    }


async def test_an_invalid_document_is_told_where(app: FastAPI) -> None:
    answer = await answer_to(app, InvalidMessage("duplicate_key", "/a", "the key appears twice"))
    assert answer.status_code == 422
    assert (answer.json()["code"], answer.json()["pointer"]) == ("duplicate_key", "/a")


async def test_an_invalid_body_is_told_where_without_its_values(app: FastAPI) -> None:
    async def take(document: Document) -> int:
        return document.count

    app.add_api_route("/documents", take, methods=["POST"])
    answer = await request(app, lambda client: client.build_request("POST", "/documents", json={"count": "hunter2"}))
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert answer.json()["errors"][0]["place"] == "body/count"
    assert "hunter2" not in answer.text


async def test_an_unknown_path_is_a_problem_too(app: FastAPI) -> None:
    answer = await request(app, lambda client: client.build_request("GET", "/nowhere"))
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
