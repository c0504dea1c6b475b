"""Models equal their schemas in both directions, on examples and on what is one step away from them."""

import json
from pathlib import Path
from typing import Any

import pytest
from assay_contracts import schema
from assay_contracts.errors import InvalidMessage
from assay_contracts.fields import WIRE
from assay_contracts.messages import MESSAGES
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
            documents.append(json.loads(path.read_text("utf-8")))
        except ValueError:
            assert path.parent.name == "refused"
    return documents


def schema_takes(name: str, document: Any) -> bool:
    try:
        schema.check(name, document)
    except InvalidMessage:
        return False
    return True


def model_takes(name: str, document: Any) -> bool:
    try:
        message = MESSAGES[name].model_validate(document, context=WIRE)
    except ValidationError:
        return False
    written = message.model_dump(mode="json")
    assert json.dumps(written, sort_keys=True) == json.dumps(document, sort_keys=True)
    return True


@pytest.mark.parametrize("name", MESSAGES)
@settings(max_examples=600)
@given(data=st.data())
def test_model_and_schema_give_one_verdict(name: str, data: st.DataObject) -> None:
    document = data.draw(mutated(examples(name)))
    assert model_takes(name, document) == schema_takes(name, document), document
