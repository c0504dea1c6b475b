"""Encoders make nothing that the decoder refuses, and a job at all bounds fits its topic."""

from typing import Any, cast

import pytest
from assay_contracts import bounds, ids
from assay_contracts.decoder import decode, decode_document
from assay_contracts.encoder import encode, encode_document
from assay_contracts.envelope import Envelope
from assay_contracts.errors import InvalidMessage
from assay_contracts.evidence import evidence_uri
from assay_contracts.ids import CatalogId, SourceId, TenantId, new_id, uuid7
from assay_contracts.job import ArtifactRef, Pins, ResolutionJob
from assay_contracts.timestamps import Timestamp
from assay_contracts.topics import TOPICS, topic_of
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from .mutations import LENGTHS, STRANGE
from .test_examples import accepted, name_of, read

TENANT = TenantId("ten_".ljust(bounds.ID, "a"))


def job(artifacts: int = 1, media_type: str = "text/html", group: int = 1) -> ResolutionJob:
    capture = new_id("cap")
    return ResolutionJob(
        job_id=ids.job_id(capture, "llm_extract", group),
        stage="llm_extract",
        tenant_id=TENANT,
        catalog_id=CatalogId("cat_".ljust(bounds.ID, "a")),
        capture_id=capture,
        receipt_id=new_id("rcpt"),
        source_id=SourceId("src_".ljust(bounds.ID, "a")),
        artifacts=tuple(
            ArtifactRef(
                artifact_id=new_id("art"),
                ref=evidence_uri(TENANT, "f" * 64),
                sha256="f" * 64,
                media_type=media_type,
                bytes=bounds.POSITION,
            )
            for _ in range(artifacts)
        ),
        pins=Pins(adapter="pa_".ljust(bounds.PIN - 6, "a") + "@1.0.0", profile="np_".ljust(bounds.PIN - 2, "a") + "@1"),
        enqueued_at=Timestamp("2026-05-19T09:23:20.123456+02:00"),
        attempt_group=group,
        trace_id="t" * bounds.TRACE_ID,
        history_epoch="h" * bounds.EPOCH,
    )


def envelope(payload: ResolutionJob) -> Envelope[ResolutionJob]:
    return Envelope(id=uuid7(), ts=bounds.LAST_SECOND, attempt=bounds.COUNT, payload=payload)


def test_a_job_at_every_bound_of_intake_fits_its_topic() -> None:
    worst_media_type = "a/b;".ljust(bounds.MEDIA_TYPE, '"')
    message = envelope(job(bounds.ARTIFACTS, worst_media_type, group=bounds.COUNT))
    data = encode(message)
    assert len(data) <= TOPICS["resolution.job.v1"].max_bytes
    assert decode("resolution.job.v1", data) == message


def test_the_encoder_makes_compact_utf8() -> None:
    data = encode(envelope(job(media_type="text/html; title=\u00e9")))
    assert b": " not in data.replace(b"; ", b"")
    assert "\u00e9".encode() in data


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (job().model_copy(update={"job_id": "cap_other:llm_extract:1"}), "job_id_mismatch"),
        (job().model_copy(update={"tenant_id": "ten-a"}), "wrong_pattern"),
        (job().model_copy(update={"trace_id": "\ud800"}), "not_utf8"),
        (job().model_copy(update={"trace_id": "x" * 16_384}), "too_large"),
        (job().model_copy(update={"trace_id": "\0"}), "nul_character"),
    ],
)
def test_no_invalid_message_is_made(payload: ResolutionJob, reason: str) -> None:
    with pytest.raises(InvalidMessage) as caught:
        encode(envelope(payload))
    assert caught.value.reason == reason


def test_no_invalid_document_is_made(receipt_bytes: bytes) -> None:
    receipt = decode_document("receipt.v1", receipt_bytes)
    assert decode_document("receipt.v1", encode_document(receipt)) == receipt
    with pytest.raises(InvalidMessage):
        encode_document(receipt.model_copy(update={"tenant_id": "ten_other"}))


def places(message: BaseModel) -> list[tuple[str, ...]]:
    """The paths of fields, those of messages inside included."""
    found: list[tuple[str, ...]] = []
    for name in type(message).model_fields:
        inner = getattr(message, name)
        found += [(name,), *((name, *path) for path in (places(inner) if isinstance(inner, BaseModel) else ()))]
    return found


def replaced(message: BaseModel, path: tuple[str, ...], value: object) -> BaseModel:
    """A copy with another value, which no model has judged."""
    name, *rest = path
    inner = replaced(getattr(message, name), tuple(rest), value) if rest else value
    return message.model_copy(update={name: inner})


TEXTS = st.sampled_from(["\0", "\ud800", "a\n", "\u0661", "\u00e9", ""]) | st.sampled_from(LENGTHS).map("a".__mul__)
ACCEPTED = [path for path in accepted() if name_of(path) != "envelope.v1"]


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@settings(max_examples=1_500)
@given(st.sampled_from(ACCEPTED), st.data())
def test_whatever_is_put_into_a_message_it_is_not_written_or_right(path: Any, data: st.DataObject) -> None:
    """Every message, with one value exchanged behind the back of its model."""
    whole = read(path)
    message = message_of(whole)
    value: object = data.draw(TEXTS | st.sampled_from(STRANGE))
    write(path, whole, replaced(message, data.draw(st.sampled_from(places(message))), value))


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: f"{name_of(path)}/{path.stem}")
def test_a_list_at_any_place_of_a_message_is_not_written_or_right(path: Any) -> None:
    whole = read(path)
    message = message_of(whole)
    lists: list[list[object]] = [[]]
    for place in places(message):
        write(path, whole, replaced(message, place, lists))


def message_of(whole: object) -> BaseModel:
    """What an example's model is asked about: an envelope's payload, or the document itself."""
    return cast("BaseModel", whole.payload if isinstance(whole, Envelope) else whole)


def write(path: Any, whole: object, other: BaseModel) -> None:
    """Encode an example with another message in its place; what is written, the decoder takes."""
    try:
        if isinstance(whole, Envelope):
            written = encode(cast("Envelope[Any]", whole).model_copy(update={"payload": other}))
            decode(topic_of(name_of(path)).name, written)
        else:
            written = encode_document(cast("Any", other))
            decode_document(name_of(path), written)
    except InvalidMessage as refusal:
        assert refusal.reason != "not_modelled"
