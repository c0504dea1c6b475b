"""Which currency a text names, if it names one."""

import pytest
from assay_stages.normalize.currencies import CODES, find_currency


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("EUR", "EUR"),
        ("pln", "PLN"),
        ("71,91 €", "EUR"),
        ("US $12.99", None),
        ("US$12.99", "USD"),
        ("C$ 5", "CAD"),
        ("R$ 1.299,90", "BRL"),
        ("63 Lei", "RON"),
        ("997 zł", "PLN"),
        ("44890 тг.", "KZT"),
        ("99 ر.س", "SAR"),
        ("30000원~", "KRW"),
        ("CHF 12.50", "CHF"),
        ("12.50 USD", "USD"),
    ],
)
def test_one_currency_is_named(raw: str, code: str | None) -> None:
    assert find_currency(raw) == code


@pytest.mark.parametrize(
    "raw", ["$", "$20", "¥500", "Rs 23,450", "20 kr", "", "20", "XYZ", "soft 20", "leisure", "EURO"]
)
def test_a_sign_of_several_currencies_names_none(raw: str) -> None:
    assert find_currency(raw) is None


def test_two_currencies_are_none() -> None:
    assert find_currency("20 EUR or 22 USD") is None


def test_no_code_is_that_of_a_metal_or_a_test() -> None:
    assert not CODES & {"XAU", "XTS", "XXX"}
    assert all(len(code) == 3 and code.isupper() for code in CODES)
