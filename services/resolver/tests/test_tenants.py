"""Every route, walked with another tenant's ids: the same answer as for what does not exist."""

import json
import uuid
from datetime import UTC, datetime, timedelta

import httpx
import psycopg
import pytest
from assay_resolver_api import cases, dead_letters, decisions, items, listings
from fastapi.routing import APIRoute

from .world import CATALOG, Tenant, new_tenant, text

ROUTES = [
    route
    for module in (cases, items, listings, decisions, dead_letters)
    for route in module.router.routes
    if isinstance(route, APIRoute)
]
BODIES: dict[str, dict[str, object]] = {
    "/v1/cases/{case_id}/decisions": {"action": "create", "expected_revision": 1, "rationale": "x"},
    "/v1/items/{item_id}/pins": {"attribute": "color", "value": text("red"), "rationale": "x"},
    "/v1/items/{item_id}/pins/{attribute}/withdraw": {"rationale": "x"},
    "/v1/items/{item_id}/merge": {
        "into": "{item_id}",
        "expected_revision": 1,
        "into_revision": 1,
        "rationale": "x",
    },
    "/v1/items/{item_id}/split": {"listings": ["{listing_id}"], "expected_revision": 1, "rationale": "x"},
    "/v1/items/{item_id}/retire": {"reason": "other", "expected_revision": 1, "rationale": "x"},
    "/v1/items/{item_id}/revive": {"expected_revision": 1, "rationale": "x"},
    "/v1/listings/{listing_id}/mapping": {"item_id": "{item_id}", "expected_revision": 1, "rationale": "x"},
    "/v1/listings/{listing_id}/clear": {"expected_revision": 1, "rationale": "x"},
    "/v1/listings/{listing_id}/wrong-keys": {"key": "gtin:1", "expected_revision": 1, "rationale": "x"},
    "/v1/verdicts": {"one": "{item_id}", "other": "{listing_id}", "rationale": "x"},
    "/v1/decisions/{decision_id}/undo": {"rationale": "x"},
}
UNKNOWN = {
    "case_id": f"case_{0:032x}",
    "item_id": f"item_{0:032x}",
    "listing_id": f"lst_{0:032x}",
    "decision_id": f"dec_{0:032x}",
    "attribute": "color",
}
REFUSED = {
    "/v1/items/{item_id}/pins/{attribute}/withdraw": "already_so",
    "/v1/items/{item_id}/merge": "already_so",
    "/v1/items/{item_id}/split": "not_in_item",
    "/v1/items/{item_id}/revive": "already_so",
    "/v1/listings/{listing_id}/mapping": "already_so",
    "/v1/listings/{listing_id}/wrong-keys": "no_such_key",
}
"""What the owner of the ids is told where the request of this test makes no sense."""


def send(who: Tenant, route: APIRoute, ids: dict[str, str]) -> httpx.Response:
    """A request of the route that is right in everything but, perhaps, its ids and its key."""
    method = "POST" if route.path in BODIES else "GET"
    headers = {**who.headers, "Idempotency-Key": uuid.uuid4().hex}
    content = json.dumps(BODIES[route.path]) if route.path in BODIES else None
    for name, value in ids.items():
        content = content and content.replace(f"{{{name}}}", value)
    url = who.api.url + route.path.format(**ids)
    return httpx.request(method, url, content=content, params={"catalog": CATALOG}, headers=headers)


@pytest.mark.parametrize("route", [route for route in ROUTES if "{" in route.path], ids=lambda route: route.path)
async def test_ids_of_another_tenant_are_unknown_ids(tenant: Tenant, twin: Tenant, route: APIRoute) -> None:
    case_id, item_id = await tenant.open_case()
    ((listing_id,),) = tenant.rows("SELECT listing_id FROM mapping WHERE tenant_id = %s")
    ((decision_id,),) = tenant.rows("SELECT decision_id FROM decision WHERE tenant_id = %s")
    known = {"case_id": case_id, "item_id": item_id, "listing_id": listing_id, "decision_id": decision_id}
    known["attribute"] = "color"
    foreign, unknown = send(twin, route, known), send(twin, route, UNKNOWN)
    assert foreign.status_code == unknown.status_code == 404
    assert foreign.content == unknown.content
    own = send(tenant, route, known)
    assert own.status_code in {200, 201} or own.json()["code"] == REFUSED[route.path]


def test_every_route_that_changes_is_walked() -> None:
    assert {route.path for route in ROUTES if route.methods != {"GET"}} == set(BODIES)


async def test_catalog_of_another_tenant_is_an_unknown_catalog(tenant: Tenant, twin: Tenant) -> None:
    case_id, _ = await tenant.open_case()
    with psycopg.connect(tenant.database.admin_dsn) as admin:
        admin.execute("INSERT INTO catalog (tenant_id, catalog_id) VALUES (%s, 'cat_private')", [tenant.tenant_id])
    for catalog in ("cat_private", "cat_absent"):
        assert twin.get("cases", catalog=catalog).status_code == 404
        refused = twin.post(f"cases/{case_id}/decisions", BODIES["/v1/cases/{case_id}/decisions"], catalog=catalog)
        assert refused.status_code == 404


async def test_lists_show_the_tenants_own_only(tenant: Tenant, twin: Tenant) -> None:
    await tenant.open_case()
    bury(tenant, 1)
    assert len(tenant.get("cases").json()["cases"]) == len(tenant.get("dead-letters").json()["dead_letters"]) == 1
    assert twin.get("cases").json()["cases"] == twin.get("dead-letters").json()["dead_letters"] == []


async def test_dead_letters_come_in_pages_newest_first(tenant: Tenant) -> None:
    bury(tenant, 3)
    first = tenant.get("dead-letters", limit=2).json()
    second = tenant.get("dead-letters", limit=2, after=first["next"]).json()
    offsets = [letter["offset"] for letter in first["dead_letters"] + second["dead_letters"]]
    assert (offsets, second["next"]) == ([2, 1, 0], None)
    assert first["dead_letters"][0]["cause"] == "the pin names no adapter"


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.path)
def test_scope_is_needed(tenant: Tenant, route: APIRoute) -> None:
    stranger = Tenant(tenant.database, tenant.api, tenant.tenant_id, "assay_none")
    nobody = new_tenant(tenant.database, tenant.api, scopes=("captures:write",))
    assert send(stranger, route, UNKNOWN).status_code == 401
    assert send(nobody, route, UNKNOWN).status_code == 403


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("cases", {"after": "case_\x00"}),
        ("cases", {"catalog": "cat_' OR 1=1"}),
        ("cases", {"limit": 0}),
        ("cases", {"state": "closed"}),
        ("cases/case_%00", {}),
        ("items/item_%00/lineage", {}),
        ("items/item_a/lineage", {"attribute": "\x00"}),
        ("dead-letters", {"after": "0:0:0"}),
        ("dead-letters", {"after": f"{uuid.UUID(int=0)}:999999999:999999999999999999"}),
    ],
)
def test_nonsense_is_refused_not_failed(tenant: Tenant, path: str, query: dict[str, object]) -> None:
    assert tenant.get(path, **query).status_code in {200, 404, 422}


def bury(tenant: Tenant, count: int) -> None:
    """Dead letters of the tenant, each a second younger than the one before."""
    topic_id, start = uuid.uuid4(), datetime(2026, 1, 1, tzinfo=UTC)
    with psycopg.connect(tenant.database.admin_dsn) as admin:
        for offset in range(count):
            admin.execute(
                'INSERT INTO dead_letter (topic_id, partition, "offset", topic, tenant_id, reason, cause, value,'
                " headers, created_at) VALUES (%s, 0, %s, 'resolution.job.v1', %s, 'unknown_pin',"
                " 'the pin names no adapter', 'x', '[]', %s)",
                [topic_id, offset, tenant.tenant_id, start + timedelta(seconds=offset)],
            )
