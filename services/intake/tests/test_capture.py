"""A capture handed in: what is durable when the receipt comes, who gets which receipt, and what is refused."""

from typing import Any

import httpx
import pytest

from .world import Capture, IntakeProcess, Place, Tenant, digest, new_capture, wait_for


def get(intake: IntakeProcess, tenant: Tenant, path: str) -> httpx.Response:
    return httpx.get(f"{intake.url}/v1/{path}", headers=tenant.headers)


def test_receipt_promises_what_is_already_durable(place: Place, intake: IntakeProcess, tenant: Tenant) -> None:
    capture = new_capture(b"<html>one</html>", b"<html>two</html>")
    answer = capture.send(intake, tenant)
    receipt = answer.json()
    assert answer.status_code == 201
    assert [artifact["sha256"] for artifact in receipt["artifacts"]] == [digest(data) for _, data in capture.parts]
    assert place.rows("SELECT state FROM evidence WHERE tenant_id = %s", tenant.tenant_id) == [("stored",)] * 2
    assert place.rows("SELECT job_id, state, attempt FROM job WHERE tenant_id = %s", tenant.tenant_id) == [
        (receipt["job_id"], "open", 1)
    ]
    for _, data in capture.parts:
        assert get(intake, tenant, f"evidence/{digest(data)}").content == data


def test_first_job_is_sent_and_its_place_noted(place: Place, intake: IntakeProcess, tenant: Tenant) -> None:
    new_capture().send(intake, tenant)
    sent = wait_for(
        lambda: place.rows("SELECT sent_offset FROM job WHERE tenant_id = %s AND sent_offset >= 0", tenant.tenant_id)
    )
    assert len(sent) == 1


def test_retry_with_another_boundary_gets_the_first_receipt(intake: IntakeProcess, tenant: Tenant) -> None:
    capture = new_capture()
    first, again = capture.send(intake, tenant), capture.send(intake, tenant)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.content == again.content


def test_stating_the_true_hash_makes_no_other_request(intake: IntakeProcess, tenant: Tenant) -> None:
    capture = new_capture(b"page")
    first = capture.send(intake, tenant)
    capture.metadata["artifacts"][0] |= {"sha256": digest(b"page"), "bytes": 4}
    assert capture.send(intake, tenant).content == first.content


@pytest.mark.parametrize(
    "change",
    [{"fetch_status": 404}, {"url": "https://shop.example/other"}, {"observed_at": "2026-01-02T03:04:06Z"}],
    ids=lambda change: next(iter(change)),
)
def test_another_body_under_a_bound_key_changes_nothing(
    place: Place, intake: IntakeProcess, tenant: Tenant, change: dict[str, Any]
) -> None:
    capture = new_capture()
    first = capture.send(intake, tenant)
    refused = Capture(capture.metadata | change, capture.parts).send(intake, tenant)
    assert (refused.status_code, refused.json()["code"]) == (409, "idempotency_key_reused")
    assert place.rows("SELECT capture_id FROM capture WHERE tenant_id = %s", tenant.tenant_id) == [
        (first.json()["capture_id"],)
    ]


def test_other_bytes_under_a_bound_key_are_a_conflict(place: Place, intake: IntakeProcess, tenant: Tenant) -> None:
    capture = new_capture(b"one")
    capture.send(intake, tenant)
    assert Capture(capture.metadata, [("page-0", b"two")]).send(intake, tenant).status_code == 409
    assert len(place.rows("SELECT 1 FROM evidence WHERE tenant_id = %s", tenant.tenant_id)) == 1


def test_refused_request_binds_no_key(intake: IntakeProcess, tenant: Tenant) -> None:
    capture = new_capture()
    spoiled = Capture(capture.metadata | {"source_id": "src_unknown"}, capture.parts)
    assert spoiled.send(intake, tenant).status_code == 422
    assert capture.send(intake, tenant).status_code == 201


def test_key_header_may_only_repeat_the_metadata(intake: IntakeProcess, tenant: Tenant) -> None:
    capture = new_capture()
    refused = capture.send(intake, tenant, idempotency_key="another")
    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_mismatch")
    assert capture.send(intake, tenant, idempotency_key=capture.metadata["idempotency_key"]).status_code == 201


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"catalog_id": "cat_other"}, "unknown_catalog"),
        ({"source_id": "src_other"}, "unknown_source"),
        ({"source_id": "src_people"}, "reserved_source"),
        ({"idempotency_key": "statement:" + "0" * 64}, "reserved_key"),
        ({"key": "漢" * 683}, "name_too_long"),
        ({"url": "https://shop.example/" + "é" * 400}, "name_too_long"),
        ({"observed_at": "1969-12-31T23:59:59Z"}, "observed_out_of_range"),
        ({"observed_at": "9999-12-31T23:59:59-23:59"}, "observed_out_of_range"),
        ({"observed_at": "0001-01-01T00:00:00+14:00"}, "observed_out_of_range"),
        ({"url": "ftp://shop.example"}, "wrong_pattern"),
        ({"pins": {"adapter": "latest"}}, "wrong_pattern"),
        ({"fetch_status": 99}, "out_of_range"),
        ({"tenant_id": "ten_other"}, "unknown_field"),
        ({"key": "a\u0000b"}, "nul_character"),
        ({"key": "x" * 70_000}, "too_large"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_metadata_is_refused_with_its_reason(
    intake: IntakeProcess, tenant: Tenant, change: dict[str, Any], code: str
) -> None:
    answer = new_capture(**change).send(intake, tenant)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert answer.headers["content-type"] == "application/problem+json"


def test_clock_a_little_ahead_is_set_to_the_arrival(place: Place, intake: IntakeProcess, tenant: Tenant) -> None:
    ((soon,),) = place.rows("SELECT to_char(now() + '4 min', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')")
    capture_id = new_capture(observed_at=soon).send(intake, tenant).json()["capture_id"]
    shown = get(intake, tenant, f"captures/{capture_id}").json()
    assert shown["observed_at"] == shown["received_at"]


def test_clock_far_ahead_is_refused(place: Place, intake: IntakeProcess, tenant: Tenant) -> None:
    ((later,),) = place.rows("SELECT to_char(now() + '6 min', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')")
    assert new_capture(observed_at=later).send(intake, tenant).json()["code"] == "observed_out_of_range"


def test_capture_shows_what_became_of_it(place: Place, intake: IntakeProcess, tenant: Tenant) -> None:
    receipt = new_capture(pins={"adapter": "pa_schema_org@1.0.0"}).send(intake, tenant).json()
    path = f"captures/{receipt['capture_id']}"
    shown = get(intake, tenant, path).json()
    assert (shown["state"], shown["outcome"], shown["adapter"]) == ("open", None, "pa_schema_org@1.0.0")
    assert shown["artifacts"] == receipt["artifacts"]
    place.run("UPDATE job SET state = 'done', outcome = 'nothing' WHERE tenant_id = %s", tenant.tenant_id)
    shown = get(intake, tenant, path).json()
    assert (shown["state"], shown["outcome"]) == ("done", "nothing")
    place.run(
        "UPDATE job SET state = 'dead', outcome = NULL, cause = 'unknown_pin' WHERE tenant_id = %s", tenant.tenant_id
    )
    shown = get(intake, tenant, path).json()
    assert (shown["state"], shown["jobs"][0]["cause"]) == ("dead", "unknown_pin")


def test_receipt_is_shown_as_it_was_given(intake: IntakeProcess, tenant: Tenant) -> None:
    given = new_capture(b"a", b"b", b"a").send(intake, tenant)
    assert get(intake, tenant, f"receipts/{given.json()['receipt_id']}").content == given.content


def test_evidence_is_never_rendered(intake: IntakeProcess, tenant: Tenant) -> None:
    page = b"<script>alert(1)</script>"
    new_capture(page).send(intake, tenant)
    answer = get(intake, tenant, f"evidence/{digest(page)}")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_empty_artifact_is_evidence_too(intake: IntakeProcess, tenant: Tenant) -> None:
    assert new_capture(b"").send(intake, tenant).json()["artifacts"][0]["bytes"] == 0


def test_metrics_and_health_are_on_the_second_port(intake: IntakeProcess, tenant: Tenant) -> None:
    capture = new_capture()
    capture.send(intake, tenant)
    capture.send(intake, tenant)
    assert httpx.get(f"{intake.ops_url}/readyz").status_code == 200
    metrics = httpx.get(f"{intake.ops_url}/metrics").text
    for outcome in ("accepted", "repeated"):
        assert f'assay_intake_captures_total{{outcome="{outcome}"}}' in metrics
    assert tenant.tenant_id not in metrics
    assert httpx.get(f"{intake.url}/metrics").status_code == 404
