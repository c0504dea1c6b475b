"""One raw statement to one value of the contract, or to the reason why not."""

import json

import pytest
from assay_contracts.values import CodeValue, NumberValue, TextValue, UrlValue
from assay_stages.normalize.identifiers import Problem
from assay_stages.normalize.values import canonical_value, value_of
from hypothesis import given
from hypothesis import strategies as st

PAGE = "https://shop.example/a/b?x=1"

NAMES = [
    *("name", "brand", "description", "category", "color", "size", "material", "seller", "weight"),
    *("gtin", "mpn", "sku", "price", "price_high", "currency", "availability", "condition", "url", "image"),
]


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("https://schema.org/InStock", "in_stock"),
        ("http://schema.org/OutOfStock", "out_of_stock"),
        ("schema:PreOrder", "preorder"),
        ("in stock", "in_stock"),
        ("Sold Out", "out_of_stock"),
        ("BackOrder", "backorder"),
        ("https://schema.org/LimitedAvailability", "in_stock"),
        ("Discontinued", "discontinued"),
    ],
)
def test_availability_is_one_of_five(raw: str, code: str) -> None:
    assert value_of("availability", raw, None) == CodeValue(code=code)


def test_an_unknown_availability_is_not_in_stock() -> None:
    assert value_of("availability", "ships when the moon is full", None) == Problem("unknown_availability")


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("http://schema.org/NewCondition", "new"),
        ("New with tags", "new"),
        ("UsedCondition", "used"),
        ("refurbished", "refurbished"),
        ("https://schema.org/DamagedCondition", "damaged"),
    ],
)
def test_condition_is_one_of_four(raw: str, code: str) -> None:
    assert value_of("condition", raw, None) == CodeValue(code=code)


@pytest.mark.parametrize("raw", ["Unbranded", " no brand ", "Does not apply", "N/A", "Markenlos"])
def test_what_says_that_there_is_no_brand_is_no_brand(raw: str) -> None:
    assert value_of("brand", raw, None) == Problem("no_brand")


def test_text_is_folded() -> None:
    raw = "<b>Caf\u00e9</b>&nbsp;&amp; Cr\u00e8me\n\t\u200b \ufb01ne \x07 3 < 4"
    assert value_of("name", raw, None) == TextValue(text="Café & Crème fine 3 < 4", lang=None)


@pytest.mark.parametrize("raw", ["$metabrand", "{{ product.name }}", "${name}", "undefined", "null"])
def test_an_unfilled_template_is_no_text(raw: str) -> None:
    assert value_of("name", raw, None) == Problem("unfilled_template")


def test_prices_are_canonical_numbers() -> None:
    assert value_of("price", "67.8400", None) == NumberValue(number="67.84", unit=None)
    assert value_of("price", "3.499", None) == NumberValue(number="3499", unit=None)
    assert value_of("price", "0.00", None) == Problem("zero_price")
    assert value_of("price", "on request", None) == Problem("not_an_amount")


def test_a_bare_dollar_is_no_currency() -> None:
    assert value_of("currency", "$", None) == Problem("no_iso_currency")
    assert value_of("currency", "eur", None) == CodeValue(code="EUR")


@pytest.mark.parametrize(
    ("raw", "grams"), [("1.5 kg", "1500"), ("350g", "350"), ("2 lb", "907.18474"), ("5 mg", "0.005")]
)
def test_weights_are_grams(raw: str, grams: str) -> None:
    assert value_of("weight", raw, None) == NumberValue(number=grams, unit="g")


@pytest.mark.parametrize("raw", ["350", "heavy", "3 stone", "0 kg"])
def test_a_weight_without_a_unit_is_no_weight(raw: str) -> None:
    assert value_of("weight", raw, None) == Problem("not_a_weight")


@pytest.mark.parametrize(
    ("raw", "url"),
    [
        ("/img/1.jpg", "https://shop.example/img/1.jpg"),
        ("//CDN.example/1.jpg", "https://cdn.example/1.jpg"),
        ("2.jpg", "https://shop.example/a/2.jpg"),
        ("HTTPS://Shop.Example:443/Ä b", "https://shop.example/%C3%84%20b"),
        ("http://user:secret@shop.example/x", "http://shop.example/x"),
        ("http://bücher.example", "http://xn--bcher-kva.example/"),
    ],
)
def test_addresses_are_absolute(raw: str, url: str) -> None:
    assert value_of("image", raw, PAGE) == UrlValue(url=url)


@pytest.mark.parametrize(
    "raw", ["data:image/png;base64,AAAA", "javascript:void(0)", "http://[", "mailto:a@b.example", "http://"]
)
def test_what_leads_nowhere_is_no_address(raw: str) -> None:
    assert value_of("url", raw, "file:///x") == Problem("not_an_address")


def test_relative_addresses_need_a_page_that_has_one() -> None:
    assert value_of("image", "/img/1.jpg", None) == Problem("not_an_address")


def test_too_long_is_a_problem_and_never_cut() -> None:
    assert value_of("name", "x" * 2_001, None) == Problem("too_long")
    assert value_of("description", "x" * 20_000, None) == TextValue(text="x" * 20_000, lang=None)
    assert value_of("description", "x" * 20_001, None) == Problem("too_long")
    assert value_of("url", "https://shop.example/" + "x" * 2_048, None) == Problem("too_long")


def test_other_names_stay_facts() -> None:
    assert value_of("rating", "5", None) == Problem("unregistered_name")


def test_a_value_has_one_spelling() -> None:
    value = value_of("name", "Käse", None)
    assert isinstance(value, TextValue)
    assert canonical_value(value) == '{"lang":null,"text":"Käse","type":"text"}'


@given(st.sampled_from(NAMES), st.text(max_size=200), st.none() | st.text(max_size=50) | st.just(PAGE))
def test_any_statement_has_a_value_or_a_reason(name: str, raw: str, url: str | None) -> None:
    value = value_of(name, raw.replace("\0", ""), url)
    assert isinstance(value, Problem) or json.loads(canonical_value(value))["type"]
