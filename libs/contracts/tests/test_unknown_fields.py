"""What an envelope holds beside its own fields changes neither verdict nor message."""

import json
from typing import Any, Final, cast

from assay_contracts import strict_json
from assay_contracts.decoder import decode
from assay_contracts.errors import InvalidMessage
from assay_contracts.topics import TOPICS
from assay_contracts.vectors import Vector, read_vectors
from hypothesis import given, settings
from hypothesis import strategies as st

from .test_strict_json import DOCUMENTS

KNOWN: Final = ("version", "id", "ts", "attempt", "payload")


def _is_object(value: bytes | None) -> bool:
    try:
        return isinstance(strict_json.parse(value or b""), dict)
    except InvalidMessage:
        return False


OBJECTS: Final = [vector for vector in read_vectors() if vector.topic and _is_object(vector.value)]
NAMES: Final = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8) | st.sampled_from(
    ["Version", "ID", "ts ", "attempts", "payloads", "type", "tenant_id", "$schema", "__proto__", ""]
)
UNKNOWN: Final = st.dictionaries(NAMES.filter(lambda name: name not in KNOWN), DOCUMENTS, min_size=1, max_size=3)


def outcome(topic: str, value: bytes) -> object:
    """The refusal, or what the message says in its own fields."""
    try:
        envelope = decode(topic, value)
    except InvalidMessage as refusal:
        return refusal.reason, refusal.pointer, refusal.text
    return envelope.version, envelope.id, envelope.ts, envelope.attempt, envelope.payload


def test_vectors_of_both_verdicts_are_asked() -> None:
    assert sum(vector.reason is None for vector in OBJECTS) > 50
    assert sum(vector.reason is not None for vector in OBJECTS) > 200
    carrying = {name for name, topic in TOPICS.items() if topic.key == "tenant" and topic.message}
    assert {vector.topic for vector in OBJECTS} == carrying


@settings(max_examples=1_500)
@given(st.sampled_from(OBJECTS), UNKNOWN, st.booleans())
def test_unknown_outer_fields_change_no_outcome(vector: Vector, unknown: dict[str, Any], first: bool) -> None:
    value, topic = cast("bytes", vector.value), cast("str", vector.topic)
    told = json.dumps(unknown).encode()
    value = value.strip()
    between = b"," if value[1:-1].strip() else b""
    grown = told[:-1] + between + value[1:] if first else value[:-1] + between + told[1:]
    if len(grown) <= TOPICS[topic].max_bytes and not any(name in strict_keys(value) for name in unknown):
        assert outcome(topic, grown) == outcome(topic, value)


def strict_keys(value: bytes) -> set[str]:
    """The names of an object's own fields."""
    return set(cast("dict[str, object]", strict_json.parse(value)))
