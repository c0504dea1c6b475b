"""The quick path never says yes where the reference says no, and makes the very same messages."""

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pytest
from assay_contracts import schema, timestamps
from assay_contracts.decoder import _of_document, _of_topic  # pyright: ignore[reportPrivateUsage]  both of its ways
from assay_contracts.errors import InvalidMessage
from assay_contracts.fast import FORMATS, NotQuick, quick_judge
from assay_contracts.reading import Reader
from assay_contracts.topics import TOPICS
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from .mutations import mutated
from .test_models import examples

ENVELOPED = {topic.message: name for name, topic in TOPICS.items() if topic.message and topic.key == "tenant"}
ALONE = ("capture.v1", "receipt.v1", "history.witness.v1")
READERS: dict[str, Reader[BaseModel]] = {
    **{message: _of_topic(topic) for message, topic in ENVELOPED.items()},
    **{name: _of_document(name) for name in ALONE},
}
OUTER: dict[str, Any] = {"version": 1, "id": "0192f4e2-7c10-7c71-a4b1-0a3f1c2b8d44", "ts": 1, "attempt": 1}
EXAMPLES = Path(schema.__file__).parent / "schemas" / "examples"


def wrapped(name: str, documents: list[Any]) -> list[Any]:
    """As the topic carries them."""
    return [{**OUTER, "payload": document} for document in documents] if name in ENVELOPED else documents


def accepted(name: str) -> list[Any]:
    return wrapped(name, [json.loads(path.read_bytes()) for path in sorted((EXAMPLES / name).glob("*.json"))])


def slow(reader: Reader[BaseModel], data: bytes) -> BaseModel | tuple[str, str, str]:
    try:
        return reader.read_slowly(data)
    except InvalidMessage as refusal:
        return refusal.reason, refusal.pointer, refusal.text


def quick(reader: Reader[BaseModel], data: bytes) -> BaseModel | tuple[str, str, str]:
    try:
        reader.judge(data)
        return reader.read(data)
    except InvalidMessage as refusal:
        return refusal.reason, refusal.pointer, refusal.text


def agree(name: str, data: bytes) -> None:
    one, other = quick(READERS[name], data), slow(READERS[name], data)
    assert one == other, data
    if isinstance(one, BaseModel) and isinstance(other, BaseModel):
        assert one.model_dump_json() == other.model_dump_json()
        assert repr(one) == repr(other)
        assert one.model_fields_set == other.model_fields_set


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=600)
@given(data=st.data())
def test_both_ways_give_one_verdict_and_one_message(name: str, data: st.DataObject) -> None:
    document = data.draw(mutated(st.sampled_from(wrapped(name, examples(name)))))
    agree(name, json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=100)
@given(data=st.data())
def test_the_order_and_spelling_of_a_document_changes_nothing(name: str, data: st.DataObject) -> None:
    document: Any = data.draw(st.sampled_from(accepted(name)))
    shuffled = dict(data.draw(st.permutations(list(document.items()))))
    for text in (json.dumps(shuffled), json.dumps(shuffled, separators=(",", ":"), ensure_ascii=False)):
        agree(name, text.encode())


@pytest.mark.parametrize("name", READERS)
def test_every_accepted_example_goes_the_quick_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the slow way was taken")

    monkeypatch.setattr(Reader, "judge_slowly", refuse)
    monkeypatch.setattr("assay_contracts.reading.build_slowly", refuse)
    for document in accepted(name):
        READERS[name].read(orjson.dumps(document))


HOSTILE = [
    b'{"a":1,"a":1}',
    b'{"a":1e2}',
    b'{"a":-0}',
    b'{"a":18446744073709551616}',
    b'{"a":"\\u0000"}',
    b'{"a":"\\ud800"}',
    b'{"a":NaN}',
    b'{"a":"\xff"}',
    b'{"a":"\xed\xa0\x80"}',
    b'\xef\xbb\xbf{"a":1}',
    b' {"a":1}',
    b'{"a":1}\n',
    b'{"a":"\\u0061"}',
    b'{"a":"\\/"}',
    b"[]",
    b"null",
    b"2.0",
    b"",
    b'{"a":' + b"[" * 64 + b"]" * 64 + b"}",
    b'{"a":' + b"[" * 300 + b"]" * 300 + b"}",
    b'{"a":' * 5_000,
]
ANY_OBJECT = {"type": "object"}


@pytest.mark.parametrize("data", HOSTILE, ids=lambda data: repr(data[:24]))
def test_bytes_that_may_be_read_in_two_ways_are_left_to_the_strict_scan(data: bytes) -> None:
    assert quick_judge(ANY_OBJECT)(data) is None


def test_plain_bytes_are_read_quickly() -> None:
    deep = b'{"a":' + b"[" * 63 + b"]" * 63 + b"}"
    wide = b'{"a":[' + b",".join([b"{}"] * 100) + b"]}"
    for data in (deep, wide, b'{"a":"[[[ 1.0, 2.0] \\b\xc3\xa9"}', b'{"a":1.5}'):
        assert quick_judge(ANY_OBJECT)(data) == json.loads(data)


def test_depth_is_looked_at_where_the_schema_is_open() -> None:
    """A field that is closed cannot be deep; next to it an open one can, whatever the number of fields."""
    deep = b'{"a":1,"b":' + b"[" * 64 + b"]" * 64 + b"}"
    for schema_ in (
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"type": "integer"}, "c": {"const": 1}}},
        {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "array"}}, "required": ["a", "b"]},
        {"type": "object", "properties": {"a": {}, "b": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"maxItems": 9}}},
    ):
        assert quick_judge(schema_)(deep) is None
        assert quick_judge(schema_)(b'{"a":1,"b":[]}') == {"a": 1, "b": []}


@pytest.mark.parametrize("types", ["integer", ["integer", "string"], ["null", "integer"]])
@pytest.mark.parametrize("number", [2.0, 1e16, 1e300, True, 2, 2**63, 2**64 - 1])
def test_an_integer_is_written_as_one(types: object, number: object) -> None:
    document = orjson.dumps({"n": number})
    positive = {"type": "object", "properties": {"n": {"type": types}}}
    negative = {"type": "object", "properties": {"n": {"not": {"type": types}}}}
    is_integer = type(number) is int
    assert (quick_judge(positive)(document) is not None) == is_integer
    assert (quick_judge(negative)(document) is None) == is_integer


@pytest.mark.parametrize(
    "schema_",
    [
        {"oneOf": [{"type": "object"}]},
        {"type": ["object", "null"]},
        {"type": "object", "properties": {"a": {"format": "email"}}},
    ],
)
def test_a_schema_that_the_compiled_judge_may_read_otherwise_has_no_quick_one(schema_: dict[str, Any]) -> None:
    with pytest.raises(NotQuick):
        quick_judge(schema_)


def test_the_patterns_of_days_are_the_calendar() -> None:
    pattern = re.compile(FORMATS["date"].removesuffix("$") + r"\Z")
    for year in (0, 1, 4, 99, 100, 400, 1000, 1900, 2000, 2023, 2024, 2100, 9999):
        for month in range(14):
            for day in range(34):
                text = f"{year:04}-{month:02}-{day:02}"
                assert bool(pattern.match(text)) == timestamps.is_date(text), text
    for year in range(10_000):
        leap = year > 0 and date(year, 12, 31).timetuple().tm_yday == 366
        assert bool(pattern.match(f"{year:04}-02-29")) == leap
        assert bool(pattern.match(f"{year:04}-02-28")) == (year > 0)


PIECES = [
    *("2024-02-29", "2023-02-29", "0000-01-01", "2026-05-19", "T", "t", " ", "\n", "\u0660"),
    *("07:23:20", "24:00:00", "23:59:60", "00:00:00", ".1", ".1234567", "."),
    *("Z", "z", "+23:59", "-24:00", "+00:60", "-00:00", "+0000"),
]


@settings(max_examples=2_000)
@given(st.lists(st.sampled_from(PIECES), min_size=3, max_size=6).map("".join))
def test_the_pattern_of_timestamps_is_their_check(text: str) -> None:
    pattern = re.compile(FORMATS["date-time"].removesuffix("$") + r"\Z")
    assert bool(pattern.match(text)) == timestamps.is_timestamp(text)
