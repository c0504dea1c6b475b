"""A case is answered once, at the revision that was seen, and a retry gets the first result."""

import asyncio
from collections import Counter

import httpx
import pytest

from .world import CATALOG, Tenant, code, text


def answer(action: str, revision: int = 1, **more: object) -> dict[str, object]:
    return {"action": action, "expected_revision": revision, "rationale": "the photos agree", **more}


async def test_case_shows_facts_beside_candidates(tenant: Tenant) -> None:
    case_id, item_id = await tenant.open_case()
    shown = tenant.get(f"cases/{case_id}").json()
    assert {fact["name"] for fact in shown["facts"]} == {"name", "brand", "mpn"}
    assert [candidate["item_id"] for candidate in shown["candidates"]] == [item_id]
    assert shown["candidates"][0]["attributes"]["brand"] == text("Acme")
    assert (shown["state"], shown["revision"], shown["listing"]["item_id"]) == ("open", 1, None)


async def test_accepted_listing_is_the_item(tenant: Tenant) -> None:
    case_id, item_id = await tenant.open_case()
    decided = tenant.post(f"cases/{case_id}/decisions", answer("accept", item_id=item_id))
    assert decided.status_code == 201
    assert decided.json()["events"][0]["type"] == "mapping.set"
    assert tenant.get(f"cases/{case_id}").json()["state"] == "decided"
    ((actor,),) = tenant.rows("SELECT actor FROM decision WHERE tenant_id = %s AND action = 'person.accept'")
    assert actor == f"key:{tenant.key.removeprefix('assay_')[:36]}"


async def test_created_item_is_another_one(tenant: Tenant) -> None:
    case_id, item_id = await tenant.open_case()
    decided = tenant.post(f"cases/{case_id}/decisions", answer("create")).json()
    assert [event["type"] for event in decided["events"]][:2] == ["item.created", "mapping.set"]
    assert decided["events"][0]["id"] != item_id


async def test_rejected_listing_is_in_no_item(tenant: Tenant) -> None:
    case_id, _ = await tenant.open_case()
    assert tenant.post(f"cases/{case_id}/decisions", answer("reject")).status_code == 201
    assert tenant.get(f"cases/{case_id}").json()["listing"]["state"] == "rejected"


async def test_retry_gets_the_first_result(tenant: Tenant) -> None:
    case_id, item_id = await tenant.open_case()
    first = tenant.post(f"cases/{case_id}/decisions", answer("accept", item_id=item_id))
    again = tenant.post(f"cases/{case_id}/decisions", answer("accept", item_id=item_id))
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() | {"repeated": True} == again.json()


async def test_request_id_serves_one_question(tenant: Tenant) -> None:
    case_id, item_id = await tenant.open_case()
    tenant.post(f"cases/{case_id}/decisions", answer("accept", item_id=item_id))
    other = tenant.post(f"cases/{case_id}/decisions", answer("reject"))
    assert (other.status_code, other.json()["code"]) == (409, "request_reused")


async def test_old_revision_is_told_what_changed(tenant: Tenant) -> None:
    case_id, item_id = await tenant.open_case()
    await tenant.see("b", name=text("Acme Desk Lamp Nordic 40W"), brand=text("Acme"), mpn=code("NL-41X"))
    late = tenant.post(f"cases/{case_id}/decisions", answer("accept", item_id=item_id))
    assert (late.status_code, late.json()["code"]) == (409, "case_conflict")
    current = late.json()["current"]
    assert current["revision"] == 2
    assert code("NL-41X") in [fact["value"] for fact in current["facts"]]


async def test_twenty_racers_leave_one_decision(tenant: Tenant) -> None:
    case_id, item_id = await tenant.open_case()
    url = f"{tenant.api.url}/v1/cases/{case_id}/decisions"
    async with httpx.AsyncClient(headers=tenant.headers, params={"catalog": CATALOG}, timeout=60) as client:
        answers = await asyncio.gather(
            *(
                client.post(
                    url,
                    json=answer("create") if racer % 2 else answer("accept", item_id=item_id),
                    headers={"Idempotency-Key": f"racer-{racer}"},
                )
                for racer in range(20)
            )
        )
    assert Counter(one.status_code for one in answers) == {201: 1, 409: 19}
    assert tenant.rows("SELECT count(*) FROM decision WHERE tenant_id = %s AND action LIKE 'person.%%'") == [(1,)]


async def test_only_what_the_case_shows_can_be_accepted(tenant: Tenant) -> None:
    case_id, _ = await tenant.open_case()
    refused = tenant.post(f"cases/{case_id}/decisions", answer("accept", item_id=f"item_{0:032x}"))
    assert (refused.status_code, refused.json()["code"]) == (422, "not_a_candidate")
    assert tenant.get(f"cases/{case_id}").json()["revision"] == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"action": "reject", "action": "create", "expected_revision": 1, "rationale": "x"}',
        b'{"action": "reject", "expected_revision": true, "rationale": "x"}',
        b'{"action": "reject", "expected_revision": 1e131071, "rationale": "x"}',
        b'{"action": "reject", "expected_revision": 1, "rationale": "a\\u0000b"}',
        b'{"action": "reject", "expected_revision": 1, "rationale": ""}',
        b'{"action": "reject", "expected_revision": 1, "rationale": "x", "item_id": "item_a"}',
        b'{"action": "accept", "expected_revision": 1, "rationale": "x"}',
        b'{"action": "merge", "expected_revision": 1, "rationale": "x"}',
        b'{"action": "reject", "expected_revision": 1, "rationale": "x", "tenant_id": "ten_other"}',
        b'{"action": "reject", "expected_revision": 9223372036854775807, "rationale": "x"}',
        b"[" * 10_000,
    ],
)
async def test_answer_that_is_none_changes_nothing(tenant: Tenant, body: bytes) -> None:
    refused = tenant.post(f"cases/case_{0:032x}/decisions", body)
    assert refused.status_code in {404, 422}
    assert refused.headers["content-type"] == "application/problem+json"


def test_answer_needs_an_idempotency_key(tenant: Tenant) -> None:
    url = f"{tenant.api.url}/v1/cases/case_a/decisions"
    refused = httpx.post(url, json=answer("reject"), params={"catalog": CATALOG}, headers=tenant.headers)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")


async def test_cases_come_in_pages(tenant: Tenant) -> None:
    name = text("Acme Desk Lamp Nordic 40W")
    await tenant.open_case()
    for page in ("c", "d"):
        await tenant.see(page, name=name, brand=text("Acme"))
    first = tenant.get("cases", limit=2).json()
    second = tenant.get("cases", limit=2, after=first["next"]).json()
    assert (len(first["cases"]), len(second["cases"]), second["next"]) == (2, 1, None)
    assert tenant.get("cases", state="decided").json()["cases"] == []
