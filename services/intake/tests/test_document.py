"""The OpenAPI document says what may be sent, and whatever is sent gets an answer, never a failure."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .world import IntakeProcess, Tenant, new_capture, part_end, part_head, post

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
FIELDS = [*sorted(new_capture(b"").metadata), "key", "trace_id", "tenant_id", ""]
ODD_TEXTS = st.sampled_from(
    ["\ud800", "\x00", "cat_main\n", "\uff43at_main", "9999-12-31T23:59:60Z", "src_" + "a" * 61]
)
CHANGES = st.dictionaries(st.sampled_from(FIELDS), JSON | ODD_TEXTS, min_size=1, max_size=3)
FUZZ = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@FUZZ
@given(changes=CHANGES)
def test_any_metadata_gets_an_answer(intake: IntakeProcess, tenant: Tenant, changes: dict[str, Any]) -> None:
    answer = new_capture(b"", **changes).send(intake, tenant)
    assert answer.status_code in {201, 409, 413, 422}


@FUZZ
@given(data=st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_for_metadata_get_an_answer(intake: IntakeProcess, tenant: Tenant, data: bytes) -> None:
    body = part_head("metadata", "edge") + data + part_end("edge")
    assert post(intake, tenant, body, "edge").status_code in {400, 422}


@FUZZ
@given(data=st.binary(max_size=300), spoil=st.integers(0, 600))
def test_any_body_gets_an_answer(intake: IntakeProcess, tenant: Tenant, data: bytes, spoil: int) -> None:
    body = new_capture(b"page").body("edge")
    spoiled = body[:spoil] + data + body[spoil + len(data) :]
    assert post(intake, tenant, spoiled, "edge").status_code in {201, 400, 413, 415, 422}


def test_every_reference_in_the_document_leads_somewhere(intake: IntakeProcess) -> None:
    document = httpx.get(f"{intake.url}/openapi.json").json()
    for reference in set(references_in(document)):
        resolve(document, reference)


def test_document_is_there_and_its_pages_are_not(intake: IntakeProcess) -> None:
    assert httpx.get(f"{intake.url}/openapi.json").status_code == 200
    assert httpx.get(f"{intake.url}/docs").status_code == 404


def references_in(document: Any) -> Iterator[str]:
    if isinstance(document, dict):
        for name, value in document.items():  # pyright: ignore[reportUnknownVariableType] - any JSON
            if name == "$ref":
                yield str(value)  # pyright: ignore[reportUnknownArgumentType] - any JSON
            yield from references_in(value)
    if isinstance(document, list):
        for value in document:  # pyright: ignore[reportUnknownVariableType] - any JSON
            yield from references_in(value)


def resolve(document: Any, reference: str) -> None:
    found = json.loads(json.dumps(document))
    for step in reference.removeprefix("#/").split("/"):
        found = found[step.replace("~1", "/").replace("~0", "~")]
