"""Global trade numbers: which identify one product, and in which of their forms."""

import pytest
from assay_stages.normalize.identifiers import Problem, read_code, read_gtin
from hypothesis import given
from hypothesis import strategies as st
from stdnum import ean


@pytest.mark.parametrize(
    ("raw", "gtin"),
    [
        ("4006381333931", "04006381333931"),
        (" 4006-381 333931 ", "04006381333931"),
        ("GTIN13: 4006381333931", "04006381333931"),
        ("isbn:9780552173742", "09780552173742"),
        ("ISBN-13 978-0-552-17374-2", "09780552173742"),
        ("0552173746", "09780552173742"),
        ("099482467999", "00099482467999"),
        ("96385074", "00000096385074"),
        ("14006381333938", "14006381333938"),
        ("04006381333931", "04006381333931"),
    ],
    ids=["13", "marks", "label", "isbn label", "isbn-13", "isbn-10", "12", "8", "pack of indicator 1", "14"],
)
def test_a_gtin_is_fourteen_digits(raw: str, gtin: str) -> None:
    assert read_gtin(raw) == gtin


def with_check_digit(digits: str) -> str:
    return digits + ean.calc_check_digit(digits)


@pytest.mark.parametrize(
    "digits",
    [
        *("020000000001", "040000000001", "050000000001", "200000004333", "977000000001", "980000000001"),
        *("990000000001", "0000000", "2000001", "9400638133393", "1200000004333", "20000000001", "40000000001"),
    ],
)
def test_numbers_for_a_shop_a_coupon_or_a_periodical_are_no_gtin(digits: str) -> None:
    assert read_gtin(with_check_digit(digits)) == Problem("restricted_gtin")


@pytest.mark.parametrize("digits", ["030000000001", "300000000001", "978055217374", "979000000001", "976000000001"])
def test_neighbours_of_restricted_prefixes_are_gtins(digits: str) -> None:
    assert read_gtin(with_check_digit(digits)) == "0" + with_check_digit(digits)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("4006381333932", "bad_check_digit"),
        ("123456789", "not_a_gtin"),
        ("B07FW264WL", "not_a_gtin"),
        ("", "not_a_gtin"),
        ("\u0664\u0660\u0660\u0666", "not_a_gtin"),
    ],
)
def test_what_is_no_gtin_says_why(raw: str, reason: str) -> None:
    assert read_gtin(raw) == Problem(reason)


@given(st.text(alphabet="0123456789", min_size=11, max_size=12).map(with_check_digit))
def test_every_length_of_one_number_is_one_value(digits: str) -> None:
    assert read_gtin(digits) == read_gtin(digits.zfill(14))


@given(st.text(alphabet="0123456789", min_size=12, max_size=12), st.integers(min_value=1, max_value=9))
def test_one_wrong_digit_is_noticed(digits: str, shift: int) -> None:
    number = with_check_digit(digits)
    wrong = number[:-1] + str((int(number[-1]) + shift) % 10)
    assert read_gtin(wrong) == Problem("bad_check_digit")


@given(st.text(max_size=40))
def test_any_text_is_fourteen_digits_or_a_problem(raw: str) -> None:
    gtin = read_gtin(raw)
    assert isinstance(gtin, Problem) or (len(gtin) == 14 and ean.is_valid(gtin))


def test_a_code_is_kept_as_written() -> None:
    assert read_code("  PU_106160/01\u200b ") == "PU_106160/01"
    assert read_code("x" * 101) == Problem("too_long")
    assert read_code(" ") == Problem("empty")
