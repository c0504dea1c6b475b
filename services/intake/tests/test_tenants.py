"""Two tenants side by side: what is another's looks exactly like what does not exist, on every route."""

import httpx
import pytest
from assay_intake.api import router
from fastapi.routing import APIRoute

from .world import IntakeProcess, Place, Tenant, digest, new_capture, new_key, new_tenant

UNKNOWN = {
    "capture_id": f"cap_{0:032x}",
    "receipt_id": f"rcpt_{0:032x}",
    "sha256": "0" * 64,
}
READING = [route for route in router.routes if isinstance(route, APIRoute) and route.methods == {"GET"}]


@pytest.fixture
def twin(place: Place) -> Tenant:
    """A tenant that has nothing."""
    return new_tenant(place)


@pytest.mark.parametrize("route", READING, ids=lambda route: route.path)
def test_ids_of_another_tenant_are_unknown_ids(
    intake: IntakeProcess, tenant: Tenant, twin: Tenant, route: APIRoute
) -> None:
    page = b"a page of one tenant"
    receipt = new_capture(page).send(intake, tenant).json()
    known = {name: {**receipt, "sha256": digest(page)}[name] for name in UNKNOWN}
    own, foreign, unknown = (
        httpx.get(intake.url + route.path.format(**ids), headers=who.headers)
        for who, ids in [(tenant, known), (twin, known), (twin, UNKNOWN)]
    )
    assert own.status_code == 200
    assert foreign.status_code == unknown.status_code == 404
    assert foreign.content == unknown.content


def test_every_route_with_an_id_is_walked() -> None:
    names = {name for route in READING for name in UNKNOWN if f"{{{name}}}" in route.path}
    assert names == set(UNKNOWN)
    assert all("{" in route.path for route in READING)


def test_equal_captures_of_two_tenants_share_nothing(
    place: Place, intake: IntakeProcess, tenant: Tenant, twin: Tenant
) -> None:
    capture = new_capture(b"the same page")
    first, second = capture.send(intake, tenant), capture.send(intake, twin)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["capture_id"] != second.json()["capture_id"]
    refs = {answer.json()["artifacts"][0]["ref"] for answer in (first, second)}
    assert {ref.split("/")[3] for ref in refs} == {tenant.tenant_id, twin.tenant_id}
    owners = place.rows("SELECT tenant_id FROM evidence WHERE sha256 = %s", digest(b"the same page"))
    assert {owner for (owner,) in owners} == {tenant.tenant_id, twin.tenant_id}


def test_catalog_of_another_tenant_is_an_unknown_catalog(
    place: Place, intake: IntakeProcess, tenant: Tenant, twin: Tenant
) -> None:
    place.run("INSERT INTO catalog (tenant_id, catalog_id) VALUES (%s, 'cat_private')", tenant.tenant_id)
    foreign = new_capture(catalog_id="cat_private").send(intake, twin)
    unknown = new_capture(catalog_id="cat_absent").send(intake, twin)
    assert foreign.json()["code"] == unknown.json()["code"] == "unknown_catalog"


def test_scope_is_needed_on_every_route(place: Place, intake: IntakeProcess, tenant: Tenant) -> None:
    nobody = Tenant(tenant.tenant_id, new_key(place, tenant.tenant_id, ("other:read",)))
    assert new_capture().send(intake, nobody).status_code == 403
    for route in READING:
        assert httpx.get(intake.url + route.path.format(**UNKNOWN), headers=nobody.headers).status_code == 403
        assert httpx.get(intake.url + route.path.format(**UNKNOWN)).status_code == 401


def test_revoked_key_is_refused_at_once(place: Place, intake: IntakeProcess, tenant: Tenant) -> None:
    capture = new_capture()
    assert capture.send(intake, tenant).status_code == 201
    place.run("UPDATE api_key SET revoked_at = now() WHERE tenant_id = %s", tenant.tenant_id)
    assert capture.send(intake, tenant).status_code == 401
