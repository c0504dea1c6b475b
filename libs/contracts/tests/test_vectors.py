"""The vectors are written as they are stated, complete, and our reader gives their verdict by both of its ways."""

import os
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, get_args

import pytest
from assay_contracts import schema, vectors
from assay_contracts.decoder import (
    DOCUMENTS,
    _of_document,  # pyright: ignore[reportPrivateUsage]  both of its ways
    _of_topic,  # pyright: ignore[reportPrivateUsage]  both of its ways
    check_key,
)
from assay_contracts.errors import InvalidMessage
from assay_contracts.reading import Reader
from assay_contracts.reasons import BytesReason, KeyReason
from assay_contracts.topics import TOPICS
from assay_contracts.vectors import Vector, read_vectors

from .stated_bytes import stated_bytes
from .stated_fields import (
    stated_envelope,
    stated_keys,
    stated_moments,
    stated_numbers,
    stated_shapes,
    stated_sizes,
)
from .stated_patterns import patterns, stated_patterns, values
from .stating import CARRIERS, Stated, lines

FOLDER: Final = Path(schema.__file__).parent / "schemas" / "vectors"
STATED: Final[dict[str, Callable[[], Iterable[Stated]]]] = {
    "bytes": stated_bytes,
    "envelope": stated_envelope,
    "keys": stated_keys,
    "moments": stated_moments,
    "numbers": stated_numbers,
    "patterns": stated_patterns,
    "shapes": stated_shapes,
    "sizes": stated_sizes,
}


@pytest.mark.parametrize("name", STATED)
def test_a_file_says_what_is_stated(name: str) -> None:
    """With ASSAY_WRITE_VECTORS set, it is written."""
    file, stated = FOLDER / f"{name}.jsonl", lines(STATED[name]())
    if os.environ.get("ASSAY_WRITE_VECTORS"):
        file.write_text(stated)
    assert file.read_text() == stated


def test_every_file_is_read() -> None:
    assert {path.stem for path in FOLDER.glob("*.jsonl")} == set(vectors.FILES) == set(STATED)
    assert {path.name for path in FOLDER.iterdir()} == {"README.md", *(f"{name}.jsonl" for name in vectors.FILES)}


VECTORS: Final = list(read_vectors())


def way(vector: Vector) -> Reader[Any]:
    return _of_topic(vector.topic) if vector.topic else _of_document(str(vector.schema))


def verdict(read: Callable[[], object], vector: Vector) -> object:
    try:
        message: Any = read()
        if vector.keyed:
            check_key(vector.carrier, vector.key, message.payload)
    except InvalidMessage as refusal:
        return refusal.reason, refusal.pointer
    return "accepted"


@pytest.mark.parametrize("carrier", CARRIERS)
def test_both_ways_give_the_stated_verdict(carrier: str) -> None:
    wrong: list[object] = []
    for vector in VECTORS:
        if vector.carrier == carrier:
            stated = "accepted" if vector.reason is None else (vector.reason, vector.pointer)
            reader, value = way(vector), vector.value
            for read in (reader.read, reader.read_slowly):
                given = verdict(lambda read=read, value=value: read(value), vector)
                if given != stated:
                    wrong.append((vector.name, given, stated))
    assert wrong == []


def test_a_vector_has_a_name_of_its_own() -> None:
    names = Counter((vector.name, vector.carrier) for vector in VECTORS)
    assert [name for name, times in names.items() if times > 1] == []


def test_every_reason_of_bytes_and_of_keys_is_stated() -> None:
    assert {*get_args(BytesReason), *get_args(KeyReason)} <= {vector.reason for vector in VECTORS}


def test_both_verdicts_are_stated_of_every_carrier() -> None:
    assert {vector.carrier for vector in VECTORS if vector.reason is None} == set(CARRIERS)
    assert {vector.carrier for vector in VECTORS if vector.reason is not None} == set(CARRIERS)
    assert {topic.name for topic in TOPICS.values() if topic.message and topic.key == "tenant"} < set(CARRIERS)
    assert set(DOCUMENTS) < set(CARRIERS)


@pytest.mark.parametrize("carrier", [carrier for carrier in CARRIERS if "#" not in carrier])
def test_every_pattern_of_a_schema_is_asked(carrier: str) -> None:
    name = carrier if carrier in DOCUMENTS else str(TOPICS[carrier].message)
    asked = {pattern for _, pattern, _ in values(carrier).values()}
    assert patterns(name) - asked == set()
