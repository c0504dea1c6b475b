"""The relay's API: who may ask what, pages without holes, what proves a history, and snapshots that agree with it."""

import asyncio
import hashlib
import json
from http import HTTPStatus
from typing import Any
from uuid import UUID

import pytest
from assay_resolver.streams import running_digest
from assay_runtime import failpoints
from assay_runtime.http import open_routes
from fastapi.routing import APIRoute, iter_route_contexts
from httpx import AsyncClient

from .api_world import EVERY_SCOPE, Api

A, B = "/v1/streams/ten_a/cat_a", "/v1/streams/ten_b/cat_a"


async def test_a_consumer_registers_reports_and_is_removed_by_name(api: Api) -> None:
    stream = api.retained.stream()
    api.retained.grow(stream, 5)
    service = api.service()
    made = await service.put("/v1/consumers/reader", json={"kind": "live"})
    assert (made.status_code, made.json()["floors"]) == (HTTPStatus.CREATED, [])
    assert (await service.put("/v1/consumers/reader", json={"kind": "live"})).status_code == HTTPStatus.OK
    assert (await service.put("/v1/consumers/reader", json={"kind": "shadow"})).status_code == HTTPStatus.CONFLICT
    said = {"tenant_id": "ten_a", "catalog_id": "cat_a", "history_epoch": "history-1", "position": 4}
    answer = await service.post("/v1/consumers/reader/progress", json={"progress": [said]})
    (stand,) = answer.json()["streams"]
    assert (stand["outcome"], stand["acknowledged"], stand["floor"], stand["head"]) == ("moved", 4, 0, 5)
    await api.retained.prune()
    kept = (await service.get(f"{A}/retention")).json()
    assert (kept["stream"]["floor"], kept["kept"], kept["held_at"]) == (4, 1, 4)
    assert kept["held_by"] == ["consumer reader"]
    assert [one["name"] for one in (await service.get("/v1/consumers")).json()["consumers"]] == ["reader"]
    assert (await service.delete("/v1/consumers/reader")).status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    gone = await service.delete("/v1/consumers/reader", params={"because": "it is no more"})
    assert gone.status_code == HTTPStatus.NO_CONTENT
    kept = (await service.get(f"{A}/retention")).json()
    assert kept["held_by"] == ["no live consumer reads it: register one, or release the stream"]


async def test_what_is_kept_names_the_lease_and_its_end(api: Api) -> None:
    stream = api.retained.stream()
    api.retained.grow(stream, 5)
    await api.retained.register("reader")
    await api.retained.report("reader", stream, 5)
    tenant = api.tenant("ten_a")
    lease = (await tenant.post(f"{A}/leases", json={"purpose": "audit", "seconds": 60.0, "position": 2})).json()
    kept = (await tenant.get(f"{A}/retention")).json()
    assert (kept["held_at"], kept["held_by"]) == (2, [f"lease {lease['lease_id']}"])
    (pin,) = [one for one in kept["keepers"] if one["type"] == "lease"]
    assert (pin["until"], pin["kind"], pin["holds"]) == (lease["expires_at"], "audit", True)
    path = f"/v1/streams/ten_a/leases/{lease['lease_id']}"
    moved = (await tenant.post(path, json={"seconds": 90.0, "position": 4})).json()
    assert moved["position"] == 4
    assert (await tenant.post(path, json={"seconds": 1.0, "position": 3})).json()["position"] == 4
    assert (await tenant.delete(path)).status_code == HTTPStatus.NO_CONTENT
    assert (await tenant.post(path, json={"seconds": 1.0})).status_code == HTTPStatus.NOT_FOUND


async def test_pages_prove_the_whole_history(api: Api) -> None:
    stream = api.retained.stream()
    for n in range(7):
        api.item(stream, f"item_{n}")
    tenant = api.tenant("ten_a")
    digest, after, seen = bytes(32), 0, 0
    while True:
        page = (await tenant.get(f"{A}/events", params={"after": after, "limit": 3})).json()
        for event in page["events"]:
            seen += 1
            digest = running_digest(digest, event["position"], UUID(event["event_id"]), event["value"].encode())
            certificate = (await tenant.get(f"{A}/certificate", params={"position": seen})).json()
            assert (event["position"], certificate["digest"], certificate["contiguous"]) == (seen, digest.hex(), True)
        if page["next"] is None:
            break
        after = page["next"]
    assert page["stream"]["digest"] == digest.hex()
    whole = (await tenant.get(f"{A}/certificate")).json()
    assert (whole["position"], whole["held"], whole["digest"]) == (7, 7, digest.hex())


async def test_a_history_with_a_hole_has_no_certificate_of_wholeness(api: Api) -> None:
    stream = api.retained.stream()
    api.item(stream, "item_1")
    api.retained.grow(stream, 1)
    found = (await api.tenant("ten_a").get(f"{A}/certificate")).json()
    assert (found["position"], found["held"], found["contiguous"]) == (2, 1, False)


async def test_what_is_pruned_is_gone_and_says_from_where_to_go_on(api: Api) -> None:
    stream = api.retained.stream()
    for n in range(5):
        api.item(stream, f"item_{n}")
    await api.retained.register("reader")
    await api.retained.report("reader", stream, 3)
    tenant = api.tenant("ten_a")
    at_four = (await tenant.get(f"{A}/certificate", params={"position": 4})).json()["digest"]
    await api.retained.prune()
    gone = await tenant.get(f"{A}/events", params={"after": 2})
    assert (gone.status_code, gone.json()["code"], gone.json()["floor"]) == (HTTPStatus.GONE, "gone", 3)
    assert [one["position"] for one in (await tenant.get(f"{A}/events", params={"after": 3})).json()["events"]] == [
        4,
        5,
    ]
    assert (await tenant.get(f"{A}/certificate", params={"position": 2})).status_code == HTTPStatus.GONE
    assert (await tenant.get(f"{A}/certificate", params={"position": 4})).json()["digest"] == at_four
    assert (await tenant.get(f"{A}/certificate", params={"position": 6})).status_code == HTTPStatus.NOT_FOUND


async def test_a_snapshot_is_all_facts_at_its_position_and_a_lease_from_there_on(api: Api) -> None:
    stream = api.retained.stream()
    api.item(stream, "item_a")
    api.item(stream, "item_b")
    api.item(stream, "item_a", retired=True)
    tenant = api.tenant("ten_a")
    made = (await tenant.post(f"{A}/snapshots", json={"purpose": "rebuild", "seconds": 60.0})).json()
    assert (made["position"], made["facts"], made["lease"]["position"]) == (3, 2, 3)
    certificate = (await tenant.get(f"{A}/certificate", params={"position": 3})).json()
    assert made["digest"] == certificate["digest"]
    body = (await tenant.get(f"{A}/snapshots/3")).content
    assert (hashlib.sha256(body).hexdigest(), len(body)) == (made["sha256"], made["bytes"])
    head, *facts = [json.loads(line) for line in body.splitlines()]
    assert (head["position"], head["digest"]) == (3, made["digest"])
    assert {(one["aggregate"]["id"], one["revision"], one["type"], one["position"]) for one in facts} == {
        ("item_a", 2, "item.retired", 3),
        ("item_b", 1, "item.created", 2),
    }
    again = (await tenant.post(f"{A}/snapshots", json={"purpose": "rebuild", "seconds": 60.0})).json()
    assert (again["position"], again["created_at"]) == (3, made["created_at"])


async def test_a_snapshot_goes_on_where_its_reader_broke_off(api: Api) -> None:
    stream = api.retained.stream()
    api.item(stream, "item_a")
    tenant = api.tenant("ten_a")
    await tenant.post(f"{A}/snapshots", json={"purpose": "rebuild", "seconds": 60.0})
    whole = (await tenant.get(f"{A}/snapshots/1")).content
    rest = await tenant.get(f"{A}/snapshots/1", headers={"Range": "bytes=40-"})
    assert (rest.status_code, rest.content) == (HTTPStatus.PARTIAL_CONTENT, whole[40:])
    assert rest.headers["content-range"] == f"bytes 40-{len(whole) - 1}/{len(whole)}"
    assert (await tenant.get(f"{A}/snapshots")).json()["bytes"] == len(whole)


async def test_snapshots_taken_while_decisions_go_on_agree_with_their_digests(api: Api) -> None:
    stream = api.retained.stream()
    api.item(stream, "item_first")
    tenant = api.tenant("ten_a")
    writing = asyncio.create_task(asyncio.to_thread(_write_items, api, 30))
    taken = 0
    while not writing.done() or not taken:
        made = (await tenant.post(f"{A}/snapshots", json={"purpose": "rebuild", "seconds": 60.0})).json()
        assert made["facts"] == made["position"]
        certificate = (await tenant.get(f"{A}/certificate", params={"position": made["position"]})).json()
        assert made["digest"] == certificate["digest"]
        taken += 1
    await writing


def _write_items(api: Api, count: int) -> None:
    stream = api.retained.stream()
    for n in range(count):
        with api.retained.outbox.connection.transaction():
            api.item(stream, f"item_{n}")


async def test_a_tenant_sees_its_own_streams_and_a_service_all(api: Api) -> None:
    for tenant in ("ten_a", "ten_b"):
        api.retained.grow(api.retained.stream(tenant), 2)
    own, twin, service = api.tenant("ten_a"), api.tenant("ten_b"), api.service()
    assert await _named(own) == {"ten_a"}
    assert await _named(service) == {"ten_a", "ten_b"}
    lease = (await own.post(f"{A}/leases", json={"purpose": "x", "seconds": 60.0})).json()["lease_id"]
    await own.post(f"{A}/snapshots", json={"purpose": "x", "seconds": 60.0})
    asked = [
        twin.get(f"{A}/events"),
        twin.get(f"{A}/certificate"),
        twin.get(f"{A}/retention"),
        twin.get(f"{A}/snapshots"),
        twin.get(f"{A}/snapshots/2"),
        twin.post(f"{A}/snapshots", json={"purpose": "x", "seconds": 1.0}),
        twin.post(f"{A}/leases", json={"purpose": "x", "seconds": 1.0}),
        twin.post(f"/v1/streams/ten_a/leases/{lease}", json={"seconds": 1.0}),
        twin.delete(f"/v1/streams/ten_a/leases/{lease}"),
        twin.post(f"/v1/streams/ten_b/leases/{lease}", json={"seconds": 1.0}),
        twin.delete(f"/v1/streams/ten_b/leases/{lease}"),
        own.get("/v1/streams/ten_a/cat_none/events"),
    ]
    answers = [await one for one in asked]
    assert {answer.status_code for answer in answers} == {HTTPStatus.NOT_FOUND}
    assert len({answer.text for answer in answers}) == 1


async def _named(client: AsyncClient) -> set[str]:
    return {one["tenant_id"] for one in (await client.get("/v1/streams")).json()["streams"]}


async def test_a_tenants_key_does_no_service_work_whatever_its_scopes(api: Api) -> None:
    api.retained.stream()
    tenant = api.tenant("ten_a", EVERY_SCOPE)
    asked = [
        tenant.put("/v1/consumers/reader", json={"kind": "live"}),
        tenant.post("/v1/consumers/reader/progress", json={"progress": []}),
        tenant.delete("/v1/consumers/reader", params={"because": "x"}),
        tenant.get("/v1/consumers"),
        tenant.delete(f"{A}/retention", params={"because": "x", "epoch": "history-1"}),
    ]
    assert {(await one).status_code for one in asked} == {HTTPStatus.FORBIDDEN}


async def test_every_route_wants_a_scope_of_its_own(api: Api) -> None:
    assert open_routes(api.app) == []
    api.retained.stream()
    bare = api.service("bare", ())
    routes = [route for route in iter_route_contexts(api.app.routes) if isinstance(route.original_route, APIRoute)]
    values: dict[str, Any] = {"tenant_id": "ten_a", "catalog_id": "cat_a", "name": "x", "lease_id": f"lease_{'0' * 32}"}
    for route in routes:
        for method in route.methods or ():
            answer = await bare.request(method, str(route.path).format(**values, position=0))
            assert answer.status_code == HTTPStatus.FORBIDDEN, f"{method} {route.path}"


@pytest.mark.parametrize("edge", ["snapshot.after_lease", "snapshot.after_read", "snapshot.after_put"])
async def test_a_crash_while_a_snapshot_is_taken_leaves_nothing_half(api: Api, edge: str) -> None:
    stream = api.retained.stream()
    api.item(stream, "item_a")
    tenant = api.tenant("ten_a")
    failpoints.arm(f"{edge}=raise")
    broken = await tenant.post(f"{A}/snapshots", json={"purpose": "x", "seconds": 60.0})
    failpoints.arm("")
    assert broken.status_code == HTTPStatus.INTERNAL_SERVER_ERROR
    assert (await tenant.get(f"{A}/snapshots")).status_code == HTTPStatus.NOT_FOUND
    made = await tenant.post(f"{A}/snapshots", json={"purpose": "x", "seconds": 60.0})
    assert made.json()["facts"] == 1
