"""Models equal their schemas in both directions, on examples, generated documents and what is a step away from them."""

import json
from pathlib import Path
from typing import Any, cast, get_args

import pytest
from assay_contracts import schema, strict_json
from assay_contracts.decoder import DOCUMENTS
from assay_contracts.envelope import Envelope
from assay_contracts.errors import InvalidMessage
from assay_contracts.fields import WIRE, Message
from assay_contracts.frames import ClientFrame, ServerFrame
from assay_contracts.job import ResolutionJob
from assay_contracts.messages import FRAMES, MESSAGES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from .instances import instances
from .mutations import changed_once, mutated

EXAMPLES = Path(schema.__file__).parent / "schemas" / "examples"


def examples(name: str) -> list[Any]:
    """Accepted and refused examples of a message, as far as they are JSON at all."""
    documents: list[Any] = []
    for path in sorted((EXAMPLES / name).rglob("*.json")):
        try:
            documents.append(strict_json.parse(path.read_bytes()))
        except InvalidMessage:
            assert path.parent.name == "refused"
    return documents


def schema_takes(name: str, document: Any) -> bool:
    try:
        schema.check(name, document)
    except InvalidMessage:
        return False
    return True


def model_takes(name: str, document: Any) -> bool:
    """Whether the model takes it; what it takes, it writes again as it was."""
    model = MESSAGES.get(name) or frame_model(name, document)
    if model is None:
        return False
    try:
        message = model.model_validate(document, context=WIRE, by_alias=True, by_name=False)
    except ValidationError:
        return False
    written = message.model_dump(mode="json")
    assert json.dumps(written, sort_keys=True) == json.dumps(document, sort_keys=True)
    return True


def frame_model(name: str, document: Any) -> type[Message] | None:
    """The one model that a frame of this type may have, if the part of the protocol has such frames."""
    kind = cast("dict[str, Any]", document).get("type") if isinstance(document, dict) else None
    direction = {"clientFrame": get_args(ClientFrame), "serverFrame": get_args(ServerFrame)}
    model = FRAMES.get(kind) if isinstance(kind, str) else None
    return model if model in direction.get(name.partition("#")[2], FRAMES.values()) else None


@pytest.mark.parametrize("name", [*MESSAGES, *(part for part in DOCUMENTS if part not in MESSAGES)])
@settings(max_examples=300)
@given(data=st.data())
def test_model_and_schema_give_one_verdict(name: str, data: st.DataObject) -> None:
    document = data.draw(mutated(st.sampled_from(examples(name))))
    assert model_takes(name, document) == schema_takes(name, document), document


GENERATED = sorted(
    name for name in {*MESSAGES} - {"catalog.event.v1"} if "#" not in name and not name.startswith("pulse.worker.v1")
)
"""Messages whose schemas can be drawn from; the others, of many shapes in one, have an example of each shape."""


def piece_takes(piece: Any, document: Any) -> bool:
    """Whether a piece of a schema surely takes it; what it doubts counts as a step away."""
    return Draft202012Validator(piece).is_valid(document)  # pyright: ignore[reportUnknownMemberType]  untyped


@pytest.mark.parametrize("name", GENERATED)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(data=st.data())
def test_model_and_schema_give_one_verdict_on_generated_documents(name: str, data: st.DataObject) -> None:
    original = data.draw(instances(schema.read_schema(name), piece_takes))
    for document in (original, *(data.draw(changed_once(original)) for _ in range(5))):
        assert model_takes(name, document) == schema_takes(name, document), document


def envelope_takes(document: Any) -> bool:
    """Whether the model of an envelope around a job takes it; what it knows of it, it writes again as it was."""
    try:
        envelope = Envelope[ResolutionJob].model_validate(document, context=WIRE)
    except ValidationError:
        return False
    known = {name: document[name] for name in Envelope[ResolutionJob].model_fields}
    assert json.dumps(envelope.model_dump(mode="json")) == json.dumps(known)
    return True


@settings(max_examples=400)
@given(data=st.data())
def test_the_envelope_and_its_schema_give_one_verdict(data: st.DataObject) -> None:
    original = data.draw(st.sampled_from(examples("envelope.v1")))
    document = data.draw(changed_once(original) | mutated(st.just(original)))
    payload = cast("dict[str, Any]", document).get("payload")
    taken = schema_takes("envelope.v1", document) and schema_takes("resolution.job.v1", payload)
    assert envelope_takes(document) == taken, document
