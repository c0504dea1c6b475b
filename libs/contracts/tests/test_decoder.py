"""The decoder's own promises: order of questions, pointers, texts, keys."""

import json
import time
from typing import Any
from unittest.mock import Mock

import pytest
from assay_contracts.decoder import check_key, decode, decode_document
from assay_contracts.envelope import Envelope
from assay_contracts.errors import InvalidMessage, UnknownContract
from assay_contracts.fields import WIRE
from assay_contracts.ids import uuid7
from assay_contracts.job import ResolutionJob
from pydantic import ValidationError

CAPTURE = "cap_0192f4e27c107c71a4b10a3f1c2b8d44"
JOB: dict[str, Any] = {
    "schema_version": "resolution.job/1",
    "job_id": f"{CAPTURE}:extract:1",
    "stage": "extract",
    "tenant_id": "ten_a",
    "catalog_id": "cat_a",
    "capture_id": CAPTURE,
    "receipt_id": "rcpt_a",
    "source_id": "src_a",
    "artifacts": [
        {"artifact_id": "art_a", "ref": "r2://evidence-private/x", "sha256": "0" * 64, "media_type": "", "bytes": 0}
    ],
    "pins": None,
    "enqueued_at": "2026-05-19T07:23:20Z",
    "attempt_group": 1,
    "history_epoch": "h1",
}


def value(payload: dict[str, Any] = JOB, **envelope: object) -> bytes:
    outer = {"version": 1, "id": str(uuid7()), "ts": 1, "attempt": 1, "payload": payload, **envelope}
    return json.dumps(outer).encode()


def refusal(data: bytes | None, topic: str = "resolution.job.v1") -> InvalidMessage:
    with pytest.raises(InvalidMessage) as caught:
        decode(topic, data)
    return caught.value


def test_a_job_arrives_typed_and_frozen() -> None:
    envelope = decode("resolution.job.v1", value(attempt=3))
    assert envelope.attempt == 3
    assert envelope.payload.artifacts[0].sha256 == "0" * 64
    with pytest.raises(ValidationError):
        envelope.payload.stage = "identity"  # pyright: ignore[reportAttributeAccessIssue]  that is the point


def test_a_tombstone_is_refused() -> None:
    assert refusal(None).reason == "null_value"


def test_one_byte_over_the_limit_is_refused_before_it_is_read() -> None:
    data = value()
    fits = data + b" " * (16_384 - len(data))
    assert decode("resolution.job.v1", fits).payload.stage == "extract"
    assert refusal(fits + b" ").reason == "too_large"
    assert refusal(b"\xff" * 16_385).reason == "too_large"


def test_unknown_top_level_fields_change_nothing() -> None:
    identity = str(uuid7())
    plain = decode("resolution.job.v1", value(id=identity))
    assert decode("resolution.job.v1", value(id=identity, priority={"lane": [1, None]}, Version=2)) == plain


def test_unknown_top_level_fields_are_still_strict_json() -> None:
    assert refusal(value().replace(b"{", b'{"x": NaN, ', 1)).reason == "not_finite"


def test_the_error_nearest_to_the_root_is_told() -> None:
    bad: dict[str, Any] = {**JOB, "stage": "guess", "artifacts": [{}]}
    assert refusal(value(bad, attempt=0)).pointer == "/attempt"
    assert refusal(value(bad)).pointer == "/payload/stage"
    assert refusal(value({**JOB, "artifacts": [{}]})).pointer == "/payload/artifacts/0"


def test_refusals_quote_no_value_and_no_strange_key() -> None:
    secret = "hunter2-0192f4e2"
    artifact = {**JOB["artifacts"][0], secret: 1}
    for payload in (
        *({**JOB, field: secret} for field in JOB if field != "history_epoch"),
        {**JOB, secret: secret},
        {**JOB, "artifacts": [artifact]},
        {**JOB, "job_id": f"cap_{secret.replace('-', '_')}:extract:1"},
    ):
        assert secret.split("-")[0] not in str(refusal(value(payload)))
    assert secret not in str(refusal(b'{"%s": {"%s": "\\ud800"}}' % (secret.encode(), secret.encode())))


def test_a_thousand_errors_cost_little() -> None:
    event = b'{"version":1,"id":"%s","ts":1,"attempt":1,"payload":{"dependencies":[%s]}}'
    data = event % (str(uuid7()).encode(), b",".join([b"{}"] * 80_000))
    started = time.process_time()
    assert refusal(data, "catalog.event.v1").reason == "missing_field"
    assert time.process_time() - started < 1


def test_what_only_the_model_refuses_is_told_as_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay_contracts.schema.check", Mock())
    assert refusal(value({**JOB, "source_id": "guess"})).reason == "not_modelled"


def test_an_absent_field_is_not_null_on_the_wire() -> None:
    assert ResolutionJob.model_validate({**JOB, "trace_id": None}).trace_id is None
    with pytest.raises(ValidationError):
        ResolutionJob.model_validate({**JOB, "trace_id": None}, context=WIRE)


def test_topics_without_an_envelope_are_not_decoded() -> None:
    for topic in ("resolution.job.v1.dlq", "history.witness.v1", "nowhere"):
        with pytest.raises(UnknownContract):
            decode(topic, value())
    with pytest.raises(UnknownContract):
        decode_document("resolution.job.v1", b"{}")  # pyright: ignore[reportCallIssue, reportArgumentType]  no document


def test_a_document_over_64_kib_is_refused() -> None:
    with pytest.raises(InvalidMessage) as caught:
        decode_document("capture.v1", b" " * 65_537)
    assert caught.value.reason == "too_large"


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        (None, "null_key"),
        (b"", "wrong_key"),
        (b"ten_b", "wrong_key"),
        (b"ten_a\n", "wrong_key"),
        (b"ten_\xff", "wrong_key"),
    ],
)
def test_a_key_that_is_not_the_tenant_is_refused(key: bytes | None, reason: str) -> None:
    job = ResolutionJob.model_validate(JOB)
    with pytest.raises(InvalidMessage) as caught:
        check_key("resolution.job.v1", key, job)
    assert caught.value.reason == reason


def test_the_key_is_the_tenant() -> None:
    job = ResolutionJob.model_validate(JOB)
    assert check_key("resolution.job.v1", b"ten_a", job) == "ten_a"
    with pytest.raises(UnknownContract):
        check_key("history.witness.v1", b"ten_a", job)


def test_an_envelope_takes_one_spelling_of_a_uuid() -> None:
    identity = uuid7()
    for spelling in (str(identity).upper(), identity.hex, f"{{{identity}}}", f"urn:uuid:{identity}", f"{identity}\n"):
        assert refusal(value(id=spelling)).reason == "wrong_pattern"
        with pytest.raises(ValidationError):
            Envelope[ResolutionJob].model_validate(
                {"id": spelling, "ts": 1, "attempt": 1, "payload": JOB}, context=WIRE
            )
