"""Decisions about items and listings over HTTP: merged, split, told apart, shown, and undone."""

from .world import Tenant, code, text

GTIN, OTHER = "04006381333931", "04006381333948"
BECAUSE = {"rationale": "the photos agree"}


async def two_items(tenant: Tenant) -> tuple[str, str]:
    """Two pages that nothing joins: their items, in order."""
    await tenant.see("a", name=text("Lamp"), gtin=code(GTIN))
    await tenant.see("b", name=text("Kettle"), gtin=code(OTHER))
    first, second = tenant.rows("SELECT item_id FROM item WHERE tenant_id = %s ORDER BY item_id")
    return str(first[0]), str(second[0])


def listing_of(tenant: Tenant, item_id: str) -> str:
    """The one listing of an item."""
    ((listing_id,),) = tenant.rows("SELECT listing_id FROM mapping WHERE tenant_id = %s AND item_id = %s", item_id)
    return str(listing_id)


async def test_a_merge_is_shown_and_undone(tenant: Tenant) -> None:
    lamp, kettle = await two_items(tenant)
    body = {"into": lamp, "expected_revision": 1, "into_revision": 1, **BECAUSE}
    merged = tenant.post(f"items/{kettle}/merge", body)
    assert (merged.status_code, merged.json()["events"][-1]["type"]) == (201, "item.merged")
    assert tenant.post(f"items/{kettle}/merge", body).json() == merged.json() | {"repeated": True}
    decision_id = merged.json()["decision_id"]
    undone = tenant.post(f"decisions/{decision_id}/undo", BECAUSE, "undo-1")
    assert (undone.status_code, undone.json()["events"][0]["type"]) == (201, "item.changed")
    shown = tenant.get(f"decisions/{decision_id}").json()
    assert shown["undone_by"] == [undone.json()["decision_id"]]
    assert {part["kind"] for part in shown["parts"]} == {"item"}
    again = tenant.post(f"decisions/{decision_id}/undo", BECAUSE, "undo-2")
    assert (again.status_code, again.json()["code"]) == (409, "undo_conflict")
    assert again.json()["parts"][0]["changed_by"] == [undone.json()["decision_id"]]


async def test_an_old_revision_is_told_what_happened_since(tenant: Tenant) -> None:
    lamp, kettle = await two_items(tenant)
    retired = tenant.post(f"items/{kettle}/retire", {"reason": "other", "expected_revision": 1, **BECAUSE}, "one")
    late = tenant.post(
        f"items/{kettle}/merge", {"into": lamp, "expected_revision": 1, "into_revision": 1, **BECAUSE}, "two"
    )
    assert (late.status_code, late.json()["code"]) == (409, "changed")
    shown = {one["item_id"]: one for one in late.json()["current"]["items"]}
    assert shown[kettle]["changes"][0]["decision"]["decision_id"] == retired.json()["decision_id"]
    revived = tenant.post(f"items/{kettle}/revive", {"expected_revision": 2, **BECAUSE}, "three")
    assert [event["type"] for event in revived.json()["events"]] == ["item.changed"]


async def test_a_split_takes_some_listings(tenant: Tenant) -> None:
    await tenant.see("a", name=text("Lamp"), gtin=code(GTIN))
    await tenant.see("b", name=text("Lamp"), gtin=code(GTIN))
    rows = tenant.rows("SELECT item_id, listing_id FROM mapping WHERE tenant_id = %s ORDER BY 2")
    item_id, listing_id = rows[0]
    split = tenant.post(f"items/{item_id}/split", {"listings": [listing_id], "expected_revision": 1, **BECAUSE})
    assert [event["type"] for event in split.json()["events"]][:2] == ["item.created", "mapping.set"]


async def test_what_differs_is_joined_by_naming_the_verdict(tenant: Tenant) -> None:
    lamp, kettle = await two_items(tenant)
    said = tenant.post("verdicts", {"one": lamp, "other": kettle, **BECAUSE}, "one")
    listing = listing_of(tenant, kettle)
    body: dict[str, object] = {"into": lamp, "expected_revision": 1, "into_revision": 1, **BECAUSE}
    refused = tenant.post(f"items/{kettle}/merge", body, "two")
    assert (refused.status_code, refused.json()["code"]) == (409, "verdict_stands")
    named = [one["decision_id"] for one in refused.json()["verdicts"]]
    assert named == [said.json()["decision_id"]]
    assert tenant.post(f"items/{kettle}/merge", {**body, "overrules": named}, "three").status_code == 201
    assert tenant.get(f"listings/{listing}").json()["home_item_id"] == kettle


async def test_a_cleared_listing_is_asked_about(tenant: Tenant) -> None:
    lamp, kettle = await two_items(tenant)
    listing = listing_of(tenant, lamp)
    assert tenant.post(f"listings/{listing}/clear", {"expected_revision": 1, **BECAUSE}, "one").status_code == 201
    shown = tenant.get(f"listings/{listing}").json()
    assert (shown["item_id"], shown["revision"], len(shown["open_cases"])) == (None, 2, 1)
    mapped = tenant.post(f"listings/{listing}/mapping", {"item_id": kettle, "expected_revision": 2, **BECAUSE}, "two")
    assert mapped.status_code == 201
    assert tenant.get(f"listings/{listing}").json()["item_id"] == kettle
    wrong = tenant.post(
        f"listings/{listing}/wrong-keys", {"key": f"gtin:{GTIN}", "expected_revision": 3, **BECAUSE}, "three"
    )
    assert wrong.status_code == 201
    assert tenant.get(f"listings/{listing}").json()["wrong_keys"] == [f"gtin:{GTIN}"]


async def test_a_pin_is_withdrawn(tenant: Tenant) -> None:
    item_id = await tenant.lamp()
    body = {"attribute": "color", "value": text("crimson"), **BECAUSE}
    tenant.post(f"items/{item_id}/pins", body, "one")
    withdrawn = tenant.post(f"items/{item_id}/pins/color/withdraw", BECAUSE, "two")
    assert [event["type"] for event in withdrawn.json()["events"]] == ["attribute.set"]


async def test_decisions_come_in_pages_newest_first(tenant: Tenant) -> None:
    lamp, kettle = await two_items(tenant)
    tenant.post(f"items/{lamp}/retire", {"reason": "other", "expected_revision": 1, **BECAUSE})
    first = tenant.get("decisions", limit=2).json()
    second = tenant.get("decisions", limit=2, before=first["next"]).json()
    actions = [one["action"] for one in first["decisions"] + second["decisions"]]
    assert (actions, second["next"]) == (["person.retire", "rule.create", "rule.create"], None)
    about = tenant.get("decisions", about=kettle).json()["decisions"]
    assert [one["action"] for one in about] == ["rule.create"]


async def test_a_collision_is_merged_or_its_key_called_wrong(tenant: Tenant) -> None:
    await two_items(tenant)
    await tenant.see("c", name=text("Acme Lamp"), brand=text("Acme"), mpn=code("AC-100"))
    outcome = await tenant.see("d", name=text("Acme Lamp"), gtin=code(GTIN), brand=text("Acme"), mpn=code("AC-100"))
    assert outcome == "case"
    ((case_id,),) = tenant.rows("SELECT case_id FROM review_case WHERE tenant_id = %s AND state = 'open'")
    wrong = {"action": "key_is_wrong", "key": f"gtin:{GTIN}", "expected_revision": 1, **BECAUSE}
    decided = tenant.post(f"cases/{case_id}/decisions", wrong, "one")
    assert decided.json()["events"][0]["type"] == "mapping.set"
    tenant.post(f"decisions/{decided.json()['decision_id']}/undo", BECAUSE, "two")
    shown = tenant.get(f"cases/{case_id}").json()
    assert shown["state"] == "open"
    into = shown["candidates"][0]["item_id"]
    named = [one["decision_id"] for candidate in shown["candidates"] for one in candidate["verdicts"]]
    body = {"action": "merge", "item_id": into, "expected_revision": shown["revision"], "overrules": named, **BECAUSE}
    merged = tenant.post(f"cases/{case_id}/decisions", body, "three")
    assert [event["type"] for event in merged.json()["events"]][-1] == "item.merged"


async def test_a_question_is_not_withdrawn_if_a_listing_would_be_forgotten(tenant: Tenant) -> None:
    case_id, _ = await tenant.open_case()
    body = {"action": "withdraw", "expected_revision": 1, **BECAUSE}
    refused = tenant.post(f"cases/{case_id}/decisions", body)
    assert (refused.status_code, refused.json()["code"]) == (422, "listing_forgotten")
