"""What single fields may be: the envelope's, numbers, moments and keys; and the size and shape of the whole."""

import json
from collections.abc import Iterator
from typing import Any, Final

from assay_contracts.reasons import Reason

from .stated_bytes import EVENT, JOB, OPEN, REQUEST
from .stating import CARRIERS, Parts, Stated, changed, documents, right, spelled, with_field, without, written

UUID: Final = "0192f4e2-7c10-7c71-a4b1-0a3f1c2b8d44"
UUIDS: Final = {
    "in_upper_case": UUID.upper(),
    "without_hyphens": UUID.replace("-", ""),
    "in_braces": f"{{{UUID}}}",
    "as_a_urn": f"urn:uuid:{UUID}",
    "with_a_newline": f"{UUID}\n",
    "with_a_full_width_digit": UUID.replace("2", "\uff12", 1),
    "with_hyphens_elsewhere": "0192f4e27c10-7c71-a4b1-0a3f-1c2b8d44",
    "too_short": UUID[:-1],
    "empty": "",
}
NO_COUNTS: Final[dict[str, tuple[bytes, Reason]]] = {
    "true": (b"true", "wrong_type"),
    "text": (b'"1"', "wrong_type"),
    "text_with_an_underscore": (b'"1_000"', "wrong_type"),
    "one_and_a_zero": (b"1.0", "wrong_type"),
    "two_and_a_zero": (b"2.0", "wrong_type"),
    "an_exponent": (b"1e3", "wrong_type"),
    "a_half": (b"1.5", "wrong_type"),
    "null": (b"null", "wrong_type"),
    "an_array": (b"[1]", "wrong_type"),
    "minus_one": (b"-1", "out_of_range"),
    "2_to_64_less_one": (b"18446744073709551615", "out_of_range"),
    "2_to_64": (b"18446744073709551616", "number_not_exact"),
    "5000_digits": (b"1" * 5_000, "number_not_exact"),
    "1e400": (b"1e400", "not_finite"),
    "nan": (b"NaN", "not_finite"),
}
COUNTS: Final = {
    JOB: {"/ts": (0, 253_402_300_799), "/attempt": (1, 2**31 - 1), "/payload/artifacts/0/bytes": (0, None)},
    EVENT: {"/payload/position": (1, 2**53 - 1), "/payload/revision": (1, 2**53 - 1)},
    REQUEST: {"/fetch_status": (100, 599), "/artifacts/0/bytes": (0, 2**53 - 1)},
}
"""Integers with their bounds. The bytes of a job's artifact end nowhere."""
MOMENTS: Final[dict[str, tuple[str, Reason | None]]] = {
    "in_utc": ("2026-05-19T07:23:20Z", None),
    "with_an_offset": ("2026-05-19T07:23:20+05:30", None),
    "with_minus_no_offset": ("2026-05-19T07:23:20-00:00", None),
    "with_the_largest_offset": ("2026-05-19T07:23:20-23:59", None),
    "with_ten_digits_of_a_second": ("2026-05-19T07:23:20.1234567890Z", None),
    "on_29_february": ("2024-02-29T00:00:00Z", None),
    "on_29_february_2000": ("2000-02-29T00:00:00Z", None),
    "at_the_last_second": ("9999-12-31T23:59:59Z", None),
    "in_lower_case_z": ("2026-05-19T07:23:20z", "wrong_pattern"),
    "in_lower_case_t": ("2026-05-19t07:23:20Z", "wrong_pattern"),
    "with_a_space": ("2026-05-19 07:23:20Z", "wrong_pattern"),
    "with_a_leap_second": ("2016-12-31T23:59:60Z", "wrong_pattern"),
    "without_an_offset": ("2026-05-19T07:23:20", "wrong_pattern"),
    "with_an_offset_without_a_colon": ("2026-05-19T07:23:20+0530", "wrong_pattern"),
    "without_seconds": ("2026-05-19T07:23Z", "wrong_pattern"),
    "with_a_comma": ("2026-05-19T07:23:20,5Z", "wrong_pattern"),
    "with_a_point_and_no_digit": ("2026-05-19T07:23:20.Z", "wrong_pattern"),
    "with_a_sign": ("+2026-05-19T07:23:20Z", "wrong_pattern"),
    "with_full_width_digits": ("2026-05-\uff11\uff19T07:23:20Z", "wrong_pattern"),
    "with_a_newline": ("2026-05-19T07:23:20Z\n", "wrong_pattern"),
    "in_week_and_day": ("2026-W21-2T07:23:20Z", "wrong_pattern"),
    "that_is_only_a_date": ("2026-05-19", "wrong_pattern"),
    "on_30_february": ("2026-02-30T07:23:20Z", "wrong_format"),
    "on_29_february_of_another_year": ("2023-02-29T07:23:20Z", "wrong_format"),
    "on_29_february_1900": ("1900-02-29T07:23:20Z", "wrong_format"),
    "on_31_april": ("2026-04-31T07:23:20Z", "wrong_format"),
    "in_month_13": ("2026-13-01T07:23:20Z", "wrong_format"),
    "on_day_0": ("2026-05-00T07:23:20Z", "wrong_format"),
    "at_hour_24": ("2026-05-19T24:00:00Z", "wrong_format"),
    "at_minute_60": ("2026-05-19T07:60:00Z", "wrong_format"),
    "in_year_0": ("0000-01-01T00:00:00Z", "wrong_format"),
    "with_an_offset_of_a_day": ("2026-05-19T07:23:20+24:00", "wrong_format"),
    "with_an_offset_of_60_minutes": ("2026-05-19T07:23:20+01:60", "wrong_format"),
}
PLACES_OF_MOMENTS: Final = {
    JOB: "/payload/enqueued_at",
    EVENT: "/payload/occurred_at",
    REQUEST: "/observed_at",
    "receipt.v1": "/received_at",
}


def stated_envelope() -> Iterator[Stated]:
    """Its fields, for a job and an event; and that others' fields change nothing."""
    for carrier in OPEN:
        document = right(carrier)
        for name, spelling in UUIDS.items():
            yield Stated(f"id_{name}", carrier, changed(document, "/id", spelling), "wrong_pattern", "/id")
        yield Stated("id_of_another_version", carrier, changed(document, "/id", "00000000-0000-0000-0000-000000000000"))
        yield Stated("id_that_is_a_number", carrier, changed(document, "/id", 1), "wrong_type", "/id")
        for name in document:
            yield Stated(f"{name}_missing", carrier, without(document, name), "missing_field")
        for name, token in {"true": b"true", "one_and_a_zero": b"1.0", "text": b'"1"', "null": b"null"}.items():
            yield Stated(f"version_{name}", carrier, spelled(document, "/version", token), "wrong_type", "/version")
        for version in (0, 2, -1):
            wrong = changed(document, "/version", version)
            yield Stated(f"version_{version}", carrier, wrong, "wrong_value", "/version")
        yield Stated("payload_empty", carrier, changed(document, "/payload", {}), "wrong_count", "/payload")
        for name, token in {"null": b"null", "an_array": b"[{}]", "text": b'"{}"'}.items():
            yield Stated(f"payload_{name}", carrier, spelled(document, "/payload", token), "wrong_type", "/payload")
        for name, token in {
            "null": b"null",
            "object": b'{"lane":[1,null]}',
            "number": b"0.5",
            "text": b'"\\u00e9"',
        }.items():
            yield Stated(f"unknown_field_{name}", carrier, with_field(document, b"priority", token))
        yield Stated("unknown_field_in_upper_case", carrier, with_field(document, b"VERSION", b"2"))


def stated_numbers() -> Iterator[Stated]:
    """Counts at their bounds, beyond them, and in spellings that some parsers take."""
    for carrier, places in COUNTS.items():
        document = right(carrier)
        for pointer, (least, most) in places.items():
            field = pointer.rsplit("/", 1)[1]
            for name, (token, reason) in NO_COUNTS.items():
                if name == "2_to_64_less_one" and most is None:
                    yield Stated(f"{field}_{name}", carrier, spelled(document, pointer, token))
                else:
                    yield Stated(f"{field}_{name}", carrier, spelled(document, pointer, token), reason, pointer)
            yield Stated(f"{field}_least", carrier, changed(document, pointer, least))
            if most is not None:
                yield Stated(f"{field}_most", carrier, changed(document, pointer, most))
                beyond = changed(document, pointer, most + 1)
                yield Stated(f"{field}_one_more_than_most", carrier, beyond, "out_of_range", pointer)


def stated_moments() -> Iterator[Stated]:
    """Each moment where a job, an event, a request and a receipt have one."""
    for carrier, pointer in PLACES_OF_MOMENTS.items():
        for name, (text, reason) in MOMENTS.items():
            value = changed(right(carrier), pointer, text)
            yield Stated(f"moment_{name}", carrier, value, reason, pointer if reason else "")


def stated_keys() -> Iterator[Stated]:
    """The Kafka key is the tenant of the payload, or a tenant."""
    for carrier in OPEN:
        value, tenant = written(right(carrier)), str(right(carrier)["payload"]["tenant_id"]).encode()
        yield Stated("key_is_the_tenant", carrier, value, key=tenant)
        yield Stated("key_null", carrier, value, "null_key", key=None)
        for name, key in {
            "empty": b"",
            "of_another_tenant": b"ten_other",
            "with_a_newline": tenant + b"\n",
            "in_upper_case": tenant.upper(),
            "in_quotes": b'"' + tenant + b'"',
            "in_utf_16": tenant.decode().encode("utf-16"),
            "bad_utf8": tenant + b"\xff",
            "of_the_capture": b"cap_0192f4e27c107c71a4b10a3f1c2b8d44",
        }.items():
            yield Stated(f"key_{name}", carrier, value, "wrong_key", key=key)
        yield Stated("value_before_key", carrier, b"{", "not_json", key=None)
        yield Stated("no_document_and_no_key", carrier, None, "null_value", key=None)
    for carrier in ("ocr.jobs", "fraud.rows", "edgar.ciks", "edgar.filings"):
        value = written(right(carrier))
        yield Stated("key_is_a_tenant", carrier, value, key=b"ten_any")
        yield Stated("key_null", carrier, value, "null_key", key=None)
        yield Stated("key_is_no_tenant", carrier, value, "wrong_key", key=b"any")


SIZES: Final = {
    JOB: 16_384,
    EVENT: 262_144,
    "ocr.jobs": 16_384,
    "fraud.rows": 262_144,
    "edgar.ciks": 16_384,
    "edgar.filings": 16_384,
    REQUEST: 65_536,
    "receipt.v1": 65_536,
    "history.witness.v1": 65_536,
    "job.v1": 65_536,
    "execution.v1": 65_536,
    "report.base.v1": 262_144,
    "pulse.worker.v1": 655_360,
}


def stated_sizes() -> Iterator[Stated]:
    """As large as may be, and a byte more, which is seen before anything else."""
    for carrier, most in SIZES.items():
        value = written(right(carrier))
        fits: Parts = [(value, 1), (b" ", most - len(value))]
        yield Stated("as_large_as_may_be", carrier, fits)
        yield Stated("one_byte_over_the_limit", carrier, [*fits, (b"\n", 1)], "too_large")
        yield Stated("size_before_bytes", carrier, [(b"\xff", most + 1)], "too_large")


def stated_shapes() -> Iterator[Stated]:
    """Every accepted example as each carrier has it, and what is wrong with the shape of any message."""
    for carrier in CARRIERS:
        for name, document in documents(carrier):
            yield Stated(f"example_{name}", carrier, json.dumps(document, ensure_ascii=False).encode())
        yield Stated("empty_object", carrier, b"{}", "missing_field")
        yield Stated("array", carrier, b"[]", "wrong_type")
    for carrier, (pointer, field) in {
        JOB: ("/payload/artifacts/0/extra", "/payload/artifacts/0"),
        EVENT: ("/payload/aggregate/extra", "/payload/aggregate"),
        REQUEST: ("/artifacts/0/extra", "/artifacts/0"),
    }.items():
        document: Any = right(carrier)
        yield Stated("unknown_inner_field", carrier, changed(document, pointer, 1), "unknown_field", pointer)
        strange = changed(document, pointer.replace("extra", "Secret 7"), 1)
        yield Stated("unknown_inner_field_that_is_no_field_name", carrier, strange, "unknown_field", f"{field}/*")
