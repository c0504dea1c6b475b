"""A person's value is evidence like any page, and lineage leads from every value to its bytes."""

import hashlib
import json

import pytest
from assay_runtime.evidence import EvidenceStore
from assay_runtime.settings import EvidenceSettings

from .world import Tenant, code, text


def statement(value: object, attribute: str = "color") -> dict[str, object]:
    return {"attribute": attribute, "value": value, "rationale": "read off the label"}


async def test_pinned_value_leads_to_the_statement(tenant: Tenant) -> None:
    item_id = await tenant.lamp()
    decided = tenant.post(f"items/{item_id}/pins", statement(text("crimson")))
    assert (decided.status_code, [event["type"] for event in decided.json()["events"]]) == (201, ["attribute.set"])
    (lineage,) = tenant.get(f"items/{item_id}/lineage", attribute="color").json()["attributes"]
    assert (lineage["value"], lineage["by"]) == (text("crimson"), "person")
    (support,) = lineage["support"]
    assert (support["source_id"], support["ref"].split("/")[3]) == ("src_people", tenant.tenant_id)
    (against,) = lineage["against"]
    assert (against["value"], against["because"]) == (text("red"), "a person's value stands before any source's")


async def test_retried_pin_gets_the_first_result(tenant: Tenant) -> None:
    item_id = await tenant.lamp()
    first = tenant.post(f"items/{item_id}/pins", statement(text("crimson")))
    again = tenant.post(f"items/{item_id}/pins", statement(text("crimson")))
    other = tenant.post(f"items/{item_id}/pins", statement(text("scarlet")))
    assert (first.status_code, again.status_code, other.status_code) == (201, 200, 409)
    assert first.json()["decision_id"] == again.json()["decision_id"]


async def test_lineage_names_decision_place_and_receipt(tenant: Tenant) -> None:
    item_id = await tenant.lamp()
    shown = tenant.get(f"items/{item_id}/lineage").json()
    assert {"name", "color"} <= {attribute["name"] for attribute in shown["attributes"]}
    for attribute in shown["attributes"]:
        assert attribute["decision"]["actor"]
        assert attribute["event"]["position"] >= 1
        for support in attribute["support"]:
            assert support["receipt_id"].startswith("rcpt_")
            assert (support["adapter"], support["place_syntax"]) == ("pa_schema_org@1.0.0", "json_pointer")


@pytest.mark.parametrize(
    ("value", "attribute"),
    [
        (text("red"), "no_such_name"),
        (code("red"), "color"),
        ({"type": "text"}, "color"),
        ({}, "color"),
        ({"type": "list", "values": [text("red")]}, "color"),
        (code("00012345678905"), "gtin"),
    ],
)
async def test_value_must_be_of_the_attributes_type(tenant: Tenant, value: object, attribute: str) -> None:
    item_id = await tenant.lamp()
    refused = tenant.post(f"items/{item_id}/pins", statement(value, attribute))
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_attribute")
    assert tenant.rows("SELECT 1 FROM evidence WHERE tenant_id = %s AND media_type = 'application/json'") == []


async def test_statement_of_an_unknown_item_is_refused_and_stores_nothing(
    tenant: Tenant, evidence: dict[str, str]
) -> None:
    refused = tenant.post(f"items/item_{0:032x}/pins", statement(text("red")))
    assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
    names = {name.removeprefix("ASSAY_").lower(): value for name, value in evidence.items()}
    async with EvidenceStore(EvidenceSettings.model_validate(names)) as store:
        names_stored = store.keys()
        assert [name async for name in names_stored if name.startswith(f"{tenant.tenant_id}/")] == []


async def test_statement_is_stored_before_it_counts(tenant: Tenant) -> None:
    item_id = await tenant.lamp()
    tenant.post(f"items/{item_id}/pins", statement(text("crimson")))
    ((sha256, size_bytes, found),) = tenant.rows(
        "SELECT e.sha256, e.bytes, x.found FROM evidence e JOIN extraction x USING (tenant_id, sha256)"
        " WHERE e.tenant_id = %s AND e.media_type = 'application/json' AND e.state = 'stored'"
    )
    assert (hashlib.sha256(found).hexdigest(), len(found)) == (sha256, size_bytes)
    assert json.loads(found)["value"] == text("crimson")
