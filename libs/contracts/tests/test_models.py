"""Models equal their schemas in both directions, on examples and on what is one step away from them."""

import json
from pathlib import Path
from typing import Any, cast, get_args

import pytest
from assay_contracts import schema, strict_json
from assay_contracts.decoder import DOCUMENTS
from assay_contracts.errors import InvalidMessage
from assay_contracts.fields import WIRE, Message
from assay_contracts.frames import ClientFrame, ServerFrame
from assay_contracts.messages import FRAMES, MESSAGES
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from .mutations import mutated

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
