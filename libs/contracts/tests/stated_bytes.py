"""What bytes may be, before any schema is asked: each case for a job, an event and a request."""

import json
from collections.abc import Iterator
from typing import Any, Final

from assay_contracts.reasons import Reason

from .stating import Parts, Stated, right, with_field, written

JOB, EVENT, REQUEST = "resolution.job.v1", "catalog.event.v1", "capture.v1"
OPEN: Final = (JOB, EVENT)
"""They take an outer field that they do not know, as `x` is."""

NO_UTF8: Final = {
    "bad_utf8": b'"\xff"',
    "latin_1": b'"caf\xe9"',
    "overlong_slash": b'"\xc0\xaf"',
    "overlong_nul": b'"\xc0\x80"',
    "surrogate_in_utf8": b'"\xed\xa0\x80"',
    "surrogate_pair_in_utf8": b'"\xed\xa0\xbd\xed\xb8\x80"',
    "beyond_the_last_character": b'"\xf4\x90\x80\x80"',
    "five_bytes": b'"\xf8\x88\x80\x80\x80"',
    "cut_character": b'"\xe2\x82"',
    "stray_continuation": b'"\x80"',
}
NO_JSON: Final = {
    "comma_at_the_end": b"[1,]",
    "two_commas": b"[1,,2]",
    "single_quotes": b"'a'",
    "no_quotes": b"a",
    "comment": b"1/**/",
    "leading_zero": b"01",
    "plus_sign": b"+1",
    "no_digit_before_the_point": b".5",
    "no_digit_after_the_point": b"1.",
    "no_digit_in_the_exponent": b"1e",
    "hexadecimal": b"0x1",
    "underscores_in_a_number": b"1_000",
    "full_width_digit": "\uff11".encode(),
    "arabic_digit": "\u0661".encode(),
    "newline_in_a_text": b'"a\nb"',
    "tab_in_a_text": b'"a\tb"',
    "nul_byte_in_a_text": b'"a\x00b"',
    "unknown_escape": b'"\\x41"',
    "cut_escape": b'"\\u00"',
    "escape_with_full_width_digits": '"\\u\uff10041"'.encode(),
    "upper_case_true": b"True",
    "undefined": b"undefined",
    "nan_in_lower_case": b"nan",
    "open_array": b"[1",
    "wrong_bracket": b"[1}",
}
FAULTS: Final[dict[str, tuple[bytes, Reason, str]]] = {
    "nan": (b"NaN", "not_finite", "/x"),
    "infinity": (b"Infinity", "not_finite", "/x"),
    "minus_infinity": (b"-Infinity", "not_finite", "/x"),
    "1e400": (b"1e400", "not_finite", "/x"),
    "minus_1e400_in_an_array": (b"[0,-1e400]", "not_finite", "/x/1"),
    "5000_digits_before_a_point": (b"9" * 5_000 + b".0", "not_finite", "/x"),
    "5000_digits": (b"9" * 5_000, "number_not_exact", "/x"),
    "5000_digits_after_a_point": (b"0." + b"1" * 5_000, "number_not_exact", "/x"),
    "2_to_64": (b"18446744073709551616", "number_not_exact", "/x"),
    "minus_2_to_63_less_one": (b"-9223372036854775809", "number_not_exact", "/x"),
    "1e_minus_400": (b"1e-400", "number_not_exact", "/x"),
    "2_to_53_and_one_with_a_point": (b"9007199254740993.0", "number_not_exact", "/x"),
    "more_digits_than_a_double_has": (b"0.1000000000000000055", "number_not_exact", "/x"),
    "duplicate_key": (b'{"a":1,"b":2,"a":3}', "duplicate_key", "/x/a"),
    "duplicate_key_escaped": (b'{"a":1,"\\u0061":1}', "duplicate_key", "/x/a"),
    "duplicate_key_in_an_array": (b'[{},{"a":{"b":1,"b":1}}]', "duplicate_key", "/x/1/a/b"),
    "duplicate_key_that_is_no_field_name": (b'{"Secret 7":1,"Secret 7":2}', "duplicate_key", "/x/*"),
    "empty_key_twice": (b'{"":1,"":2}', "duplicate_key", "/x/*"),
    "high_surrogate": (b'"\\ud800"', "lone_surrogate", "/x"),
    "low_surrogate": (b'"a\\udfff"', "lone_surrogate", "/x"),
    "surrogates_in_the_wrong_order": (b'"\\ude00\\ud83d"', "lone_surrogate", "/x"),
    "high_surrogate_before_a_letter": (b'"\\ud83da"', "lone_surrogate", "/x"),
    "surrogate_in_a_key": (b'{"\\ud800":1}', "lone_surrogate", "/x"),
    "nul_character": (b'"\\u0000"', "nul_character", "/x"),
    "nul_character_in_a_key": (b'{"a\\u0000":1}', "nul_character", "/x"),
    "nul_character_in_depth": (b'[[{"a":"b\\u0000"}]]', "nul_character", "/x/0/0/a"),
}
STRICT: Final = {
    "2_to_64_less_one": b"18446744073709551615",
    "minus_2_to_63": b"-9223372036854775808",
    "2_to_53_and_one": b"9007199254740993",
    "largest_double": b"1.7976931348623157e308",
    "smallest_double": b"5e-324",
    "zero_with_an_exponent": b"0e999",
    "minus_zero": b"-0",
    "one_with_two_zeros": b"1.00",
    "upper_case_exponent": b"1E+2",
    "surrogate_pair": b'"\\ud83d\\ude00"',
    "escaped_backslash_before_u0000": b'"\\\\u0000"',
    "every_short_escape": b'"\\"\\\\\\/\\b\\f\\n\\r\\t"',
    "delete_character": b'"\x7f"',
    "last_character": '"\U0010ffff"'.encode(),
    "line_separator": '"\u2028"'.encode(),
    "brackets_in_a_text": b'"' + b"[{" * 100 + b'\\"[["',
    "keys_that_differ_in_case": b'{"a":1,"A":1}',
    "empty_key": b'{"":0}',
    "null": b"null",
}


def stated_bytes() -> Iterator[Stated]:
    """All of them."""
    for carrier in (JOB, EVENT, REQUEST):
        document = right(carrier)
        for name, token in NO_UTF8.items():
            yield Stated(name, carrier, with_field(document, b"x", token), "not_utf8")
        for name, token in NO_JSON.items():
            yield Stated(name, carrier, with_field(document, b"x", token), "not_json")
        for name, (token, reason, pointer) in FAULTS.items():
            yield Stated(name, carrier, with_field(document, b"x", token), reason, pointer)
        yield from _encodings(carrier, written(document))
        yield from _around(carrier, written(document))
        yield from _depths(carrier, document)
        yield from _orders(carrier, document)
    for carrier in OPEN:
        for name, token in STRICT.items():
            yield Stated(name, carrier, with_field(right(carrier), b"x", token))
    yield from (Stated("no_document", carrier, None, "null_value") for carrier in OPEN)


def _encodings(carrier: str, data: bytes) -> Iterator[Stated]:
    text = data.decode()
    yield Stated("utf_8_with_a_mark", carrier, b"\xef\xbb\xbf" + data, "byte_order_mark")
    yield Stated("utf_16", carrier, text.encode("utf-16"), "byte_order_mark")
    yield Stated("utf_16_big_end_first", carrier, b"\xfe\xff" + text.encode("utf-16-be"), "byte_order_mark")
    yield Stated("utf_16_without_a_mark", carrier, text.encode("utf-16-le"), "not_json")
    yield Stated("utf_16_big_end_first_without_a_mark", carrier, text.encode("utf-16-be"), "not_json")
    yield Stated("utf_32", carrier, text.encode("utf-32"), "byte_order_mark")
    yield Stated("mark_inside", carrier, data[:1] + b"\xef\xbb\xbf" + data[1:], "not_json")


def _around(carrier: str, data: bytes) -> Iterator[Stated]:
    for name, whole in {
        "nothing": b"",
        "only_whitespace": b" \n",
        "two_documents": data + data,
        "nul_byte_after_it": data + b"\x00",
        "form_feed_before_it": b"\x0c" + data,
        "no_break_space_before_it": b"\xc2\xa0" + data,
        "last_byte_missing": data[:-1],
        "text_after_it": data + b"x",
        "garbage": b"\x00\x01\x02",
        "no_json_at_all": b"<html></html>",
    }.items():
        yield Stated(name, carrier, whole, "not_json")
    yield Stated("whitespace_around_it", carrier, b" \t\r\n" + data + b"\n\n")
    yield Stated("whitespace_inside", carrier, json.dumps(json.loads(data), indent=3).encode())
    yield Stated("everything_escaped", carrier, b"{" + _escaped(data[1:]))
    for name, token in {"text": b'"a"', "array": b"[]", "number": b"1", "true": b"true", "null": b"null"}.items():
        yield Stated(f"{name}_instead_of_an_object", carrier, token, "wrong_type")


def _escaped(data: bytes) -> bytes:
    """The first key with each of its characters escaped."""
    _, key, rest = data.split(b'"', 2)
    return b'"' + b"".join(b"\\u%04x" % code for code in key) + b'"' + rest


def _depths(carrier: str, document: Any) -> Iterator[Stated]:
    start, end = written(document)[:-1] + b',"x":', b"}"
    deep: dict[str, Parts] = {
        "depth_65": [(start, 1), (b"[", 64), (b"]", 64), (end, 1)],
        "depth_250": [(start, 1), (b"[", 249), (b"]", 249), (end, 1)],
        "depth_250_in_objects": [(start, 1), (b'{"a":', 249), (b"0", 1), (b"}", 249), (end, 1)],
        "depth_250_never_closed": [(b"[", 250)],
        "depth_5000": [(start, 1), (b"[", 4_999), (b"]", 4_999), (end, 1)],
    }
    for name, parts in deep.items():
        yield Stated(name, carrier, parts, "too_deep")
    hundred_thousand: Parts = [(b"[", 100_000), (b"]", 100_000)]
    yield Stated("depth_100000", carrier, hundred_thousand, "too_deep" if carrier == EVENT else "too_large")
    if carrier in OPEN:
        yield Stated("depth_64", carrier, [(start, 1), (b"[", 63), (b"]", 63), (end, 1)])
        yield Stated("many_arrays_in_a_row", carrier, [(start, 1), (b"[", 1), (b"[],", 1_000), (b"[]]", 1), (end, 1)])


def _orders(carrier: str, document: Any) -> Iterator[Stated]:
    """The reasons have an order, in which the first is told."""
    x = (document, b"x")
    yield Stated("bad_utf8_before_depth", carrier, with_field(*x, b"[" * 250 + b'"\xff"'), "not_utf8")
    yield Stated("depth_before_syntax", carrier, with_field(*x, b"[" * 250), "too_deep")
    yield Stated("syntax_before_duplicate_key", carrier, with_field(*x, b'{"a":1,"a":2},'), "not_json")
    yield Stated("outer_fault_before_inner", carrier, with_field(*x, b'{"a":NaN,"a":0}'), "duplicate_key", "/x/a")
    yield Stated("first_of_two_faults", carrier, with_field(*x, b"[NaN,1e-400]"), "not_finite", "/x/0")
    yield Stated("bytes_before_schema", carrier, b'{"x":1e400}', "not_finite", "/x")
    reordered = dict(reversed(list(document.items())))
    yield Stated("fields_in_another_order", carrier, written(reordered))
