"""Bytes of a layout are a message by the slow way too: drawn from the pattern, and one step from an example."""

import json
import re
import time
from typing import Any, Final

import pytest
from assay_contracts import rules, schema
from assay_contracts.decoder import DOCUMENTS
from assay_contracts.errors import InvalidMessage
from assay_contracts.layout import NotLaidOut, layout, layout_pattern
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .test_fast import READERS, accepted, agree

LAID_OUT: Final = (
    *("resolution.job.v1", "ocr.job.v1", "fraud.row.v1", "edgar.cik.v1", "edgar.filing.v1"),
    *("receipt.v1", "history.witness.v1"),
)
AHEAD = re.compile(r'\(\?=.*?"\)')
"""What looks ahead ends in a quote, which none of its sets holds."""


def pattern_of(name: str) -> str:
    message, composition = schema.read_schema(name), rules.COMPOSITIONS.get(name)
    if name in DOCUMENTS:
        return layout_pattern(message, None, composition)
    return layout_pattern(schema.read_schema("envelope.v1"), message, composition)


def written(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize("name", LAID_OUT)
def test_what_our_code_writes_without_escapes_is_laid_out(name: str) -> None:
    """Also proves that model and schema name the fields in one order."""
    laid_out = re.compile(pattern_of(name).encode()).fullmatch
    for document in accepted(name):
        message = READERS[name].read(written(document))
        data = message.model_dump_json().encode()
        assert laid_out(data) or grown(name, document) or not data.isascii() or b"\\" in data, data


def grown(name: str, document: Any) -> set[str]:
    """Fields that this version does not know, which only others write."""
    return document.get("payload", document).keys() - schema.read_schema(name)["properties"].keys()


@pytest.mark.parametrize("name", LAID_OUT)
@settings(max_examples=60, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(data=st.data())
def test_what_is_laid_out_is_taken_by_the_slow_way(name: str, data: st.DataObject) -> None:
    pattern = pattern_of(name)
    drawn = data.draw(st.from_regex(AHEAD.sub("", pattern).encode(), fullmatch=True))
    if re.compile(pattern.encode()).fullmatch(drawn) and len(drawn) <= READERS[name].max_bytes:
        schema_takes(name, drawn)
    agree(name, drawn)


def schema_takes(name: str, data: bytes) -> None:
    """A contradiction of fields is all that may be wrong with it, where the layout does not look at that."""
    try:
        READERS[name].judge_slowly(data)
    except InvalidMessage as refusal:
        assert name not in rules.COMPOSITIONS
        assert refusal.reason in ("job_id_mismatch", "ref_mismatch"), str(refusal)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=300)
@given(data=st.data())
def test_a_byte_more_or_less_or_another_changes_both_verdicts_alike(name: str, data: st.DataObject) -> None:
    original = written(data.draw(st.sampled_from(accepted(name))))
    at = data.draw(st.integers(0, len(original)))
    removed = data.draw(st.integers(0, 2))
    piece = data.draw(st.sampled_from(PIECES) | st.binary(min_size=0, max_size=2))
    agree(name, original[:at] + piece + original[at + removed :])


PIECES = [
    *(b'"', b'\\"', b"\\", b"\\u0000", b"\x00", b"\n", b" ", b",", b"{}", b"[", b"]", b"null", b"true", b"e1", b".0"),
    *(b"0", b"00", b"-", b"9" * 20, b'","', b'":"', b'"x":1,', b"\xc3\xa9", b"\xff", b"\x7f", b":extract:", b"Z"),
]


PATTERNS = [
    *(r"^[^\x00-\x20]+$", r"^a[ -~]{0,3}$", r"^(x|yz)?[+-]\.[0-9]{2,}$", r"^[A-Za-z0-9!#$&^_.+-]+/(;[ -~]+)?$"),
    *(r"^r2://", r"^(?:[1-9][0-9]{0,2}|1000)$", r"^\x41[\x42-\x44]$", r"^[\x22-\x5d]$", r"^$"),
]


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=300)
@given(data=st.data())
def test_no_text_of_a_layout_escapes_its_pattern(pattern: str, data: st.DataObject) -> None:
    drawn = st.from_regex(pattern) | st.text('ax10yz+-./;\x41\x42 "\\\n\x7f\u0660~', max_size=6)
    text = data.draw(drawn)
    laid_out = layout(one_field({"type": "string", "pattern": pattern}))
    if laid_out(b'{"a":"' + text.encode("utf-8", "surrogatepass") + b'"}'):
        assert re.search(re.sub(r"\$$", r"\\Z", pattern), text, re.ASCII)
        assert json.loads(f'{{"a":"{text}"}}') == {"a": text}


def one_field(field: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": field}, "required": ["a"]}


@pytest.mark.parametrize(
    "field",
    [
        True,
        {},
        {"type": "number"},
        {"type": "integer", "minimum": 7},
        {"type": "integer", "minimum": 0, "maximum": 5},
        {"type": "integer", "multipleOf": 2},
        {"type": "string", "pattern": "a"},
        {"type": "string", "pattern": "^a|b$"},
        {"type": "string", "pattern": r"^\d$"},
        {"type": "string", "pattern": r"^[\d]$"},
        {"type": "string", "pattern": "^a.$"},
        {"type": "string", "pattern": "^(?=a)a$"},
        {"type": "string", "pattern": "^a$b$"},
        {"type": "string", "pattern": '^"$'},
        {"type": "string", "pattern": "^\u00e9$"},
        {"type": "string", "format": "email"},
        {"type": "string", "const": "a"},
        {"type": "integer", "const": True},
        {"const": 1},
        {"const": 'a"'},
        {"enum": ["a", None]},
        {"type": "array"},
        {"type": "array", "items": {"type": "null"}, "maxItems": 0},
        {"type": "array", "items": {"type": "null"}, "uniqueItems": True},
        {"type": "object"},
        {"type": "object", "properties": {"b": {"type": "null"}}, "minProperties": 1},
        {"type": "object", "properties": {"b": {"type": "null"}}, "required": ["c"]},
        {"$ref": "#/$defs/self"},
        {"$ref": "#/$defs/fine", "minLength": 1},
        {"$ref": "urn:other"},
        {"type": "string", "if": {"const": "a"}},
    ],
    ids=str,
)
def test_what_is_not_surely_said_by_a_pattern_has_no_layout(field: Any) -> None:
    definitions = {"self": one_field({"$ref": "#/$defs/self"}), "fine": {"type": "string"}}
    with pytest.raises(NotLaidOut):
        layout({**one_field(field), "$defs": definitions})


@pytest.mark.parametrize("payload", [{"type": ["object", "null"]}, {"type": "object", "properties": {}}])
def test_a_payload_that_may_be_empty_has_no_layout(payload: dict[str, Any]) -> None:
    with pytest.raises(NotLaidOut):
        layout(one_field({"type": "object"}), payload)


@pytest.mark.parametrize(
    ("required", "laid_out"),
    [
        ([], ["{}", '{"a":1}', '{"b":1}', '{"c":1}', '{"a":1,"b":1}', '{"a":1,"c":1}', '{"b":1,"c":1}']),
        (["b"], ['{"b":1}', '{"a":1,"b":1}', '{"b":1,"c":1}', '{"a":1,"b":1,"c":1}']),
        (["a", "c"], ['{"a":1,"c":1}', '{"a":1,"b":1,"c":1}']),
    ],
)
def test_an_optional_field_brings_its_comma(required: list[str], laid_out: list[str]) -> None:
    properties = {name: {"type": "integer", "minimum": 0} for name in "abc"}
    knows = layout({"type": "object", "properties": properties, "required": required})
    assert [one for one in laid_out if not knows(one.encode())] == []
    wrong = ['{"c":1,"a":1}', '{,"a":1}', '{"a":1,}', '{"a":1"b":1}', '{"a":1,,"c":1}', '{"a":1,"a":1}', '{"a":01}']
    assert [one for one in wrong if knows(one.encode())] == []


def test_looking_at_what_almost_is_laid_out_costs_little() -> None:
    """Bytes that go wrong at their very end, after as much as a job can hold."""
    job = accepted("resolution.job.v1")[0]
    artifact = {**job["payload"]["artifacts"][0], "media_type": "/;" * 200}
    data = written({**job, "payload": {**job["payload"], "artifacts": [artifact] * 20}})[:-2] + b"}}}"
    laid_out = layout(schema.read_schema("envelope.v1"), schema.read_schema("resolution.job.v1"))
    started = time.process_time()
    for _ in range(100):
        assert not laid_out(data)
    assert time.process_time() - started < 1
