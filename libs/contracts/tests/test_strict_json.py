"""Bytes that two readers could understand differently are refused before any schema is asked."""

import json
import time
from collections.abc import Callable

import pytest
from assay_contracts.errors import InvalidMessage
from assay_contracts.strict_json import (
    _parse_slowly,  # pyright: ignore[reportPrivateUsage]  the second of two ways
    parse,
)
from hypothesis import given, settings
from hypothesis import strategies as st

DOCUMENTS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), inner, max_size=4)
    ),
    max_leaves=20,
)

HOSTILE: list[tuple[bytes, str, str]] = [
    (b"", "not_json", ""),
    (b"{} {}", "not_json", ""),
    (b"{'a':1}", "not_json", ""),
    (b'{"a":1,}', "not_json", ""),
    (b'{"a":01}', "not_json", ""),
    (b'{"a":+1}', "not_json", ""),
    (b'{"a":"\n"}', "not_json", ""),
    (b'{"a":"\x00"}', "not_json", ""),
    (b'{"a":1}\x00', "not_json", ""),
    ('{"a":\uff11}'.encode(), "not_json", ""),
    (b"\xc2\xa0{}", "not_json", ""),
    (b"\xef\xbb\xbf{}", "byte_order_mark", ""),
    ('{"a":1}'.encode("utf-16"), "byte_order_mark", ""),
    ('{"a":1}'.encode("utf-16-be"), "not_json", ""),
    (b'{"a":"\xff"}', "not_utf8", ""),
    (b'{"a":"\xc0\xaf"}', "not_utf8", ""),
    (b'{"a":"\xed\xa0\x80"}', "not_utf8", ""),
    (b'{"a":NaN}', "not_finite", "/a"),
    (b'{"a":[0,-Infinity]}', "not_finite", "/a/1"),
    (b'{"a":-1e400}', "not_finite", "/a"),
    (b'{"a":18446744073709551616}', "number_not_exact", "/a"),
    (b'{"a":-9223372036854775809}', "number_not_exact", "/a"),
    (b'{"a":' + b"9" * 5_000 + b"}", "number_not_exact", "/a"),
    (b'{"a":0.' + b"1" * 5_000 + b"}", "number_not_exact", "/a"),
    (b'{"a":1e-400}', "number_not_exact", "/a"),
    (b'{"a":1e-99999999999999999999}', "number_not_exact", "/a"),
    (b'{"a":9007199254740993.0}', "number_not_exact", "/a"),
    (b'{"a":1,"b":2,"a":1}', "duplicate_key", "/a"),
    (b'{"x":[{"a":1,"\\u0061":2}]}', "duplicate_key", "/x/0/a"),
    (b'{"x":1,"x":NaN}', "duplicate_key", "/x"),
    (b'{"Secret 7":1,"Secret 7":2}', "duplicate_key", "/*"),
    (b'{"a":"\\ud800"}', "lone_surrogate", "/a"),
    (b'{"a":"\\udc00\\ud800"}', "lone_surrogate", "/a"),
    (b'{"a":{"\\ud800":1}}', "lone_surrogate", "/a"),
    (b'{"a":["\\u0000"]}', "nul_character", "/a/0"),
    (b'{"\\u0000":1}', "nul_character", ""),
    (b"[" * 65 + b"]" * 65, "too_deep", ""),
    (b"[" * 250, "too_deep", ""),
    (b'{"a":' * 5_000, "too_deep", ""),
    (b"[" * 100_000 + b"]" * 100_000, "too_deep", ""),
]


@pytest.mark.parametrize(("data", "reason", "pointer"), HOSTILE, ids=[f"{d[:24]!r}-{r}" for d, r, _ in HOSTILE])
def test_hostile_bytes_have_one_reason_and_one_place(data: bytes, reason: str, pointer: str) -> None:
    with pytest.raises(InvalidMessage) as caught:
        parse(data)
    assert (caught.value.reason, caught.value.pointer) == (reason, pointer)


ODD: list[tuple[bytes, object]] = [
    (b" [18446744073709551615, -9223372036854775808]\n", [2**64 - 1, -(2**63)]),
    (b"[0.1, 1e22, -0.0, 0e999, 5e-324]", [0.1, 1e22, 0.0, 0.0, 5e-324]),
    (b'["\\ud83d\\ude00", "\\u00e9", "\\\\u0000"]', ["\U0001f600", "\u00e9", "\\u0000"]),
    (b"[" * 64 + b"]" * 64, json.loads("[" * 64 + "]" * 64)),
    (b'["' + b"[" * 100 + b'\\"[[", {}]', ["[" * 100 + '"[[', {}]),
]


@pytest.mark.parametrize(("data", "document"), ODD)
def test_odd_but_unambiguous_bytes_are_read(data: bytes, document: object) -> None:
    assert parse(data) == document


@given(DOCUMENTS)
def test_what_json_can_say_survives(document: object) -> None:
    assert parse(json.dumps(document).encode()) == document
    assert parse(json.dumps(document, ensure_ascii=False).encode()) == document


@given(st.binary(max_size=200) | st.text(alphabet='{}[]":,\\u0d81eE+-.NI \n', max_size=200).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        document = parse(data)
    except InvalidMessage:
        return
    assert parse(json.dumps(document).encode()) == document


TWISTED = [
    *(
        "0",
        "-0",
        "1.5",
        "1e5",
        "9" * 19,
        str(2**64 - 1),
        str(2**64),
        "1e99",
        "1e-400",
        "NaN",
        "0.1" + "0" * 20,
        "[]",
        "{}",
    ),
    *(
        '"a"',
        '"\\u0000"',
        '"\\\\u0000"',
        '"\\ud800"',
        '"\\ud83d\\ude00"',
        '"[{:"',
        '"\\":"',
        '{"a":1}',
        '{"a":1,"a":2}',
    ),
    *('{"\\u0061":1,"a":2}', '{"b":[{"c":0}],"c":":"}', "[[0],[1]]", '{"":{"":0}}', "1e1000", "[", "}", '"', "1 2"),
]


@settings(max_examples=2_000)
@given(st.lists(st.sampled_from(TWISTED), max_size=5).map(lambda parts: f"[{','.join(parts)}]"))
def test_the_short_way_and_the_long_way_take_the_same(text: str) -> None:
    assert outcome(lambda: parse(text.encode())) == outcome(lambda: _parse_slowly(text))


def outcome(read: Callable[[], object]) -> object:
    try:
        return json.dumps(read())
    except InvalidMessage as refusal:
        return refusal.reason, refusal.pointer


@pytest.mark.parametrize("piece", [b'"\\"', b'"', b"[{", b"\\", b'{"a":0,', b"[0,", b'"\\ud800",'])
def test_refusing_costs_time_in_proportion_to_the_size(piece: bytes) -> None:
    data = b"[" + piece * (262_144 // len(piece))
    started = time.process_time()
    with pytest.raises(InvalidMessage):
        parse(data)
    assert time.process_time() - started < 1
