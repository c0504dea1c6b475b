"""Ids, timestamps, decimals and refs: one spelling each."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from assay_contracts import decimals, ids, timestamps
from assay_contracts.evidence import evidence_uri, read_evidence_uri
from assay_contracts.fields import Number, Timestamp
from assay_contracts.ids import ReadingId, TenantId, new_id
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

NUMBER: TypeAdapter[str] = TypeAdapter(Number)
TIMESTAMP: TypeAdapter[str] = TypeAdapter(Timestamp)


def test_ids_have_no_hyphen_and_sort_by_their_age() -> None:
    minted = [new_id("cap") for _ in range(100)]
    assert minted == sorted(minted)
    assert len(set(minted)) == 100
    prefix, digits = minted[0].split("_")
    assert prefix == "cap"
    assert len(digits) == 32
    assert digits[12] == "7"


def test_ids_of_parts_are_made_of_the_whole() -> None:
    capture = new_id("cap")
    assert ids.job_id(capture, "extract", 2) == f"{capture}:extract:2"
    assert ids.fact_id(ReadingId("rdg_a"), 3) == "rdg_a:3"
    assert ids.attribute_id("item_a", "name", None) == "item_a/name"
    assert ids.attribute_id("lst_a", "offer", "") == "lst_a/offer"
    assert ids.attribute_id("lst_a", "offer", "red") == "lst_a/offer/b1f51a511f1da0cd"


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_moment_survives_its_timestamp(when: datetime) -> None:
    spelled = timestamps.timestamp(when)
    assert timestamps.is_timestamp(spelled)
    assert timestamps.moment(spelled) == when


def test_a_timestamp_is_cut_to_the_microsecond() -> None:
    when = timestamps.moment("2026-05-19T09:23:20.1234567+02:00")
    assert when == datetime(2026, 5, 19, 9, 23, 20, 123456, timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    "text",
    [
        "2026-05-19t07:23:20Z",
        "2026-05-19T07:23:20z",
        "2026-05-19 07:23:20Z",
        "2026-05-19T07:23:20",
        "2026-05-19T07:23Z",
        "2026-05-19T07:23:20,5Z",
        "2026-05-19T07:23:20.Z",
        "2026-05-19T07:23:20Z\n",
        "2026-05-19T07:23:20+0200",
        "2026-05-19T07:23:20+24:00",
        "2026-05-19T24:00:00Z",
        "2026-05-19T07:60:00Z",
        "2016-12-31T23:59:60Z",
        "2026-02-30T07:23:20Z",
        "2025-02-29T07:23:20Z",
        "0000-01-01T00:00:00Z",
        "\uff12026-05-19T07:23:20Z",
    ],
)
def test_what_names_no_moment_or_is_spelled_otherwise_is_no_timestamp(text: str) -> None:
    assert not timestamps.is_timestamp(text)
    with pytest.raises(ValidationError):
        TIMESTAMP.validate_python(text, strict=True)


def test_a_moment_without_a_zone_has_no_timestamp() -> None:
    with pytest.raises(ValueError, match="zone"):
        timestamps.timestamp(datetime(2026, 5, 19))


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12), max_value=10**12))
def test_a_number_has_one_spelling(number: Decimal) -> None:
    spelled = decimals.canonical_decimal(number)
    assert Decimal(spelled) == number
    assert NUMBER.validate_python(spelled) == spelled
    assert decimals.canonical_decimal(Decimal(spelled)) == spelled


@pytest.mark.parametrize(
    ("number", "spelled"),
    [("100", "100"), ("1E+3", "1000"), ("0.50", "0.5"), ("-0.0", "0"), ("-0.5", "-0.5"), ("10.00", "10")],
)
def test_spellings_of_numbers(number: str, spelled: str) -> None:
    assert decimals.canonical_decimal(Decimal(number)) == spelled


def test_what_is_not_finite_has_no_spelling() -> None:
    with pytest.raises(ValueError, match="finite"):
        decimals.canonical_decimal(Decimal("NaN"))


@pytest.mark.parametrize("text", ["1.0", "01", "+1", "-0", "1e3", ".5", "1.", "", "1\n", "\uff11"])
def test_other_spellings_are_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        NUMBER.validate_python(text)


def test_an_evidence_ref_names_tenant_and_hash() -> None:
    ref = evidence_uri(TenantId("ten_a"), "0" * 64)
    assert ref == "r2://evidence-private/ten_a/" + "0" * 64
    assert read_evidence_uri(ref) == ("ten_a", "0" * 64)
    for other in (ref + "\n", ref.upper(), "r2://public/ten_a/" + "0" * 64, ref[:-1], ref + "/x"):
        with pytest.raises(ValueError, match="ref"):
            read_evidence_uri(other)
