"""Which characters of a text are the amount, and which is the decimal point."""

from decimal import Decimal

import pytest
from assay_contracts.decimals import canonical_decimal
from assay_stages.normalize.amounts import MAX_AMOUNT, PLACES, read_amount
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("raw", "amount"),
    [
        ("67.8400", "67.84"),
        ("3.499", "3499"),
        ("3,499", "3499"),
        ("0.499", "0.499"),
        ("1299.000", "1299"),
        ("12.5", "12.5"),
        ("12,50", "12.5"),
        ("1.299,00 €", "1299"),
        ("1,299.00", "1299"),
        ("1,23,456.00 INR", "123456"),
        ("1.234.567", "1234567"),
        ("1'299.-", "1299"),
        ("12 990,00 zł", "12990"),
        ("US $12.99", "12.99"),
        ("30000원", "30000"),
        ("\n      71,91 €   \n", "71.91"),
        ("49.990000000000002", "49.99"),
        ("10 - 20 €", "10"),
        ("0", "0"),
    ],
)
def test_amount_is_read_as_people_write_it(raw: str, amount: str) -> None:
    read = read_amount(raw)
    assert read is not None
    assert canonical_decimal(read) == amount


@pytest.mark.parametrize("raw", ["", "call us", "-5", "\u22125 €", "€", "1" * 13, "1" * 5_000, ".", "NaN", "Infinity"])
def test_what_is_no_amount_is_none(raw: str) -> None:
    assert read_amount(raw) is None


@given(st.decimals(min_value=0, max_value=999_999, places=2, allow_nan=False))
def test_a_machine_amount_reads_as_itself(amount: Decimal) -> None:
    assert read_amount(f"{amount:.2f}") == amount


@given(st.integers(min_value=0, max_value=10**9), st.sampled_from([(".", ","), (",", "."), (" ", ",")]))
def test_grouped_amounts_read_the_same_in_every_country(cents: int, marks: tuple[str, str]) -> None:
    group, point = marks
    text = f"{cents // 100:,}".replace(",", group) + point + f"{cents % 100:02}"
    assert read_amount(text) == Decimal(cents) / 100


@given(st.text(max_size=300))
def test_any_text_is_an_amount_within_bounds_or_none(raw: str) -> None:
    amount = read_amount(raw)
    if amount is not None:
        assert 0 <= amount < MAX_AMOUNT
        assert -int(amount.as_tuple().exponent) <= PLACES
