"""Offers anywhere in the graph, and the lines that they fall into."""

from collections.abc import Callable

import pytest

Stated = dict[tuple[str, str], list[str]]
ReadJson = Callable[[object], Stated]

KETTLE = {"@type": "Product", "name": "Kettle"}
OFFER = {"@type": "Offer", "price": "20.00", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}


@pytest.mark.parametrize(
    "data",
    [
        {**KETTLE, "offers": OFFER},
        {**KETTLE, "Offers": [OFFER]},
        {**KETTLE, "offers": {"@type": "AggregateOffer", "lowPrice": "9", "offers": [OFFER]}},
        {"@graph": [{**KETTLE, "offers": {"@id": "#o"}}, {**OFFER, "@id": "#o"}]},
        {"@graph": [{**KETTLE, "@id": "#k"}, {**OFFER, "itemOffered": {"@id": "#k"}}]},
        {**OFFER, "itemOffered": KETTLE},
        {"@type": "ProductGroup", "name": "Kettle", "hasVariant": [{**KETTLE, "offers": OFFER}]},
        {**KETTLE, "offers": {"priceSpecification": OFFER}},
        {**KETTLE, "offers": {**OFFER, "price": None}, "price": "20.00"},
        {**KETTLE, **{name: value for name, value in OFFER.items() if name != "@type"}},
    ],
    ids=[
        "nested",
        "list, any case",
        "inside an aggregate",
        "referred to",
        "refers to the product",
        "around the product",
        "of a variant",
        "price specification",
        "price beside the offer",
        "no offer at all",
    ],
)
def test_offer_is_found_wherever_it_stands(read_json: ReadJson, data: object) -> None:
    found = read_json(data)
    assert found["price", ""] == ["20.00"]
    assert found["currency", ""] == ["EUR"]
    assert found["availability", ""] == ["https://schema.org/InStock"]


def test_an_aggregate_states_a_low_and_a_high_price(read_json: ReadJson) -> None:
    found = read_json({**KETTLE, "offers": {"lowPrice": 9.5, "highPrice": "12", "priceCurrency": "EUR"}})
    assert found["price", ""] == ["9.5"]
    assert found["price_high", ""] == ["12"]
    found = read_json({**KETTLE, "offers": {"lowPrice": "12", "highPrice": "12", "priceCurrency": "EUR"}})
    assert ("price_high", "") not in found


def test_a_crossed_out_price_is_no_price(read_json: ReadJson) -> None:
    listed = {"price": "99", "priceType": "https://schema.org/StrikethroughPrice"}
    found = read_json({**KETTLE, "offers": {"priceSpecification": [listed, {"price": "20.00"}]}})
    assert found["price", ""] == ["20.00"]


def test_offers_with_a_sku_or_a_seller_are_lines(read_json: ReadJson) -> None:
    sizes = [{**OFFER, "sku": "K-S"}, {**OFFER, "sku": "K-L", "price": "22"}, {**OFFER, "seller": {"name": "Ann"}}]
    found = read_json({**KETTLE, "sku": "K", "itemCondition": "NewCondition", "offers": sizes})
    assert found["price", "K-S"] == ["20.00"]
    assert found["price", "K-L"] == ["22"]
    assert found["seller", "Ann"] == ["Ann"]
    assert found["sku", "K-S"] == ["K-S"]
    assert found["sku", ""] == ["K"]
    assert found["condition", "K-L"] == ["NewCondition"], "what the product says of all its offers holds for each"
    assert ("price", "") not in found


def test_of_offers_without_a_line_the_lowest_is_read(read_json: ReadJson) -> None:
    found = read_json({**KETTLE, "offers": [{**OFFER, "price": "1.299,00"}, {**OFFER, "price": "30"}, {"price": "x"}]})
    assert found["price", ""] == ["30"]


def test_a_lone_offer_lends_its_codes_to_the_product(read_json: ReadJson) -> None:
    found = read_json({**KETTLE, "offers": {**OFFER, "sku": "K-1", "gtin13": "4006381333931"}})
    assert found["sku", ""] == ["K-1"]
    assert found["gtin", ""] == ["4006381333931"]
    variants = [{**OFFER, "sku": "K-1", "gtin13": "4006381333931"}, {**OFFER, "sku": "K-2"}]
    found = read_json({**KETTLE, "offers": variants})
    assert ("sku", "") not in found
    assert ("gtin", "") not in found


def test_a_currency_within_the_price_is_a_statement_too(read_json: ReadJson) -> None:
    assert read_json({**KETTLE, "offers": {"price": "20 €"}})["currency", ""] == ["20 €"]
    assert ("currency", "") not in read_json({**KETTLE, "offers": {"price": "$20"}})


def test_no_statement_is_no_fact(read_json: ReadJson) -> None:
    found = read_json({**KETTLE, "offers": {"price": "20", "priceCurrency": "EUR", "availability": " "}})
    assert not any(name in ("availability", "condition", "seller") for name, _ in found)


def test_references_in_a_circle_end(read_json: ReadJson) -> None:
    circle = {"@graph": [{**KETTLE, "@id": "a", "offers": {"@id": "b"}}, {**OFFER, "@id": "b", "offers": {"@id": "b"}}]}
    assert read_json(circle)["name", ""] == ["Kettle"]


def test_lines_are_bounded(read_json: ReadJson) -> None:
    found = read_json({**KETTLE, "offers": [{**OFFER, "sku": f"K-{n}"} for n in range(300)]})
    assert len({line for _, line in found if line}) == 100
