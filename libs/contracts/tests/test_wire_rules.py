"""Rules of the wire that no schema says: a job's id, sizes in bytes, and ids that tell their age."""

import json
import time
from typing import Any

import pytest
from assay_contracts import ids
from assay_contracts.decoder import DOCUMENTS, decode, decode_document
from assay_contracts.encoder import encode
from assay_contracts.errors import InvalidMessage
from assay_contracts.ids import new_id, uuid7
from assay_contracts.topics import TOPICS
from hypothesis import given
from hypothesis import strategies as st

from .test_encoder import envelope, job
from .test_examples import WRAP, accepted, name_of

CARRIED = [topic for topic in TOPICS.values() if topic.message and topic.key == "tenant"]
FIRST = {name_of(path): path.read_bytes().rstrip() for path in reversed(accepted())}


def reason_of(topic: str, data: bytes) -> str | None:
    try:
        decode(topic, data)
    except InvalidMessage as refusal:
        return refusal.reason
    return None


def document_reason_of(name: str, data: bytes) -> str | None:
    try:
        decode_document(name, data)
    except InvalidMessage as refusal:
        return refusal.reason
    return None


@pytest.mark.parametrize("topic", CARRIED, ids=lambda topic: topic.name)
def test_a_topic_takes_its_limit_and_not_a_byte_more(topic: Any) -> None:
    value = (WRAP % FIRST[topic.message]).ljust(topic.max_bytes)
    assert reason_of(topic.name, value) is None
    assert reason_of(topic.name, value + b" ") == "too_large"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_takes_its_limit_and_not_a_byte_more(name: str) -> None:
    data = FIRST[name].ljust(DOCUMENTS[name])
    assert document_reason_of(name, data) is None
    assert document_reason_of(name, data + b" ") == "too_large"


@pytest.mark.parametrize("letter", ["a", "\u00e9", "\u20ac", "\U0001f600"])
def test_a_limit_counts_bytes_and_not_characters(letter: str) -> None:
    limit, width = TOPICS["resolution.job.v1"].max_bytes, len(letter.encode())
    one = job().model_copy(update={"trace_id": ""})
    fits = (limit - len(encode(envelope(one)))) // width
    assert limit - width < len(encode(envelope(one.model_copy(update={"trace_id": letter * fits})))) <= limit
    with pytest.raises(InvalidMessage) as caught:
        encode(envelope(one.model_copy(update={"trace_id": letter * (fits + 1)})))
    assert caught.value.reason == "too_large"


def test_spaces_and_escapes_count_as_they_are_sent() -> None:
    limit = TOPICS["resolution.job.v1"].max_bytes
    document = json.loads(encode(envelope(job())))
    document["payload"]["trace_id"] = "\u00e9" * 3_000
    compact = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    escaped = json.dumps(document, separators=(",", ":")).encode()
    assert len(compact) <= limit < len(escaped)
    assert (reason_of("resolution.job.v1", compact), reason_of("resolution.job.v1", escaped)) == (None, "too_large")


STAGES = ["extract", "normalize", "identity", "llm_extract", "llm_review"]


@given(st.sampled_from(STAGES), st.integers(1, 2**31), st.sampled_from(["capture", "stage", "group", "zero", "none"]))
def test_a_job_id_is_its_capture_stage_and_attempt_group(stage: ids.Stage, group: int, other: str) -> None:
    one = job(group=group).model_copy(update={"stage": stage})
    named = {
        "capture": f"{new_id('cap')}:{stage}:{group}",
        "stage": f"{one.capture_id}:{STAGES[STAGES.index(stage) - 1]}:{group}",
        "group": f"{one.capture_id}:{stage}:{group + 1}",
        "zero": f"{one.capture_id}:{stage}:0{group}",
        "none": ids.job_id(one.capture_id, stage, group),
    }[other]
    written = json.loads(encode(envelope(job())))
    payload = one.model_copy(update={"job_id": named}).model_dump(mode="json", warnings=False)
    for order in (payload, dict(reversed(payload.items()))):
        data = json.dumps({**written, "payload": order}, separators=(",", ":")).encode()
        assert reason_of("resolution.job.v1", data) == (None if other == "none" else "job_id_mismatch")


def test_ids_are_uuids_of_version_7_that_tell_their_millisecond() -> None:
    before = time.time_ns() // 1_000_000
    minted = [uuid7() for _ in range(2_000)]
    after = time.time_ns() // 1_000_000
    assert {one.version for one in minted} == {7}
    assert {one.variant for one in minted} == {"specified in RFC 4122"}
    assert all(before <= one.int >> 80 <= after for one in minted)
    assert minted == sorted(minted)
    assert len(set(minted)) == len(minted)


@pytest.mark.parametrize(
    "prefix", ["ten", "cat", "src", "cap", "rcpt", "art", "ext", "rdg", "lst", "item", "case", "dec", "evt"]
)
def test_every_id_is_its_prefix_and_the_digits_of_such_a_uuid(prefix: ids.Prefix) -> None:
    mint: Any = new_id
    minted = str(mint(prefix))
    name, _, digits = minted.rpartition("_")
    assert (name, len(digits), digits[12]) == (prefix, 32, "7")
    assert int(digits[16], 16) >> 2 == 0b10
    assert digits == digits.lower()
