"""JSON-LD in the wild: where a product may stand, and what is read exactly as written."""

from collections.abc import Callable

import pytest

Stated = dict[tuple[str, str], list[str]]
ReadHtml = Callable[[str], Stated]
ReadJson = Callable[[object], Stated]

KETTLE = {"@type": "Product", "name": "Kettle"}


@pytest.mark.parametrize(
    "data",
    [
        KETTLE,
        [KETTLE],
        {"@graph": [{"@type": "WebSite", "name": "Shop"}, KETTLE]},
        {"@type": "ItemPage", "mainEntity": KETTLE},
        {"@type": "brand", "name": "Acme", "@graph": [KETTLE]},
        {"@type": "http://schema.org/Product", "name": "Kettle"},
        {"@type": ["Thing", "schema:PRODUCT"], "Name": "Kettle"},
        {"@type": "Product", "name": {"@value": "Kettle", "@language": "en"}},
        {"@graph": [{"@type": "WebPage", "mainEntity": {"@id": "#k"}}, {**KETTLE, "@id": "#k"}]},
    ],
    ids=["plain", "list", "graph", "main entity", "graph in a brand", "full type", "case", "@value", "reference"],
)
def test_product_is_found_wherever_it_stands(read_json: ReadJson, data: object) -> None:
    assert read_json(data)["name", ""] == ["Kettle"]


def test_numbers_are_read_as_the_page_wrote_them(read_html: ReadHtml) -> None:
    page = '<script type="application/ld+json">{"@type":"Product","name":"K","sku":007.0e1,"mpn":12.50}</script>'
    assert read_html(page) == {}
    page = page.replace("007.0e1", "7.0e1")
    found = read_html(page)
    assert found["sku", ""] == ["7.0e1"]
    assert found["mpn", ""] == ["12.50"]


@pytest.mark.parametrize(
    "script",
    [
        '<!-- {"@type":"Product","name":"Kettle"} -->',
        '//<![CDATA[\n{"@type":"Product","name":"Kettle"}\n//]]>',
        '{"@type":"Product","name":"Kettle"};',
        '{"@type":"Product","name":"Kettle"}}} trailing',
        '{"@type":"Product","name":"Kettle","description":"two\nlines\tand a tab"}',
        "{&quot;@type&quot;:&quot;Product&quot;,&quot;name&quot;:&quot;Kettle&quot;}",
    ],
    ids=["comment", "cdata", "semicolon", "trailing", "control characters", "escaped"],
)
def test_untidy_json_is_read(read_html: ReadHtml, script: str) -> None:
    assert read_html(f'<script type="application/LD+JSON">{script}</script>')["name", ""] == ["Kettle"]


def test_a_broken_script_does_not_hide_the_next(read_html: ReadHtml) -> None:
    broken, good = '{"@type": "Product", "name": ', '{"@type":"Product","name":"Kettle"}'
    page = "".join(f'<script type="application/ld+json">{script}</script>' for script in (broken, good))
    assert read_html(page)["name", ""] == ["Kettle"]


def test_brand_may_be_text_or_item_and_maker_stands_in(read_json: ReadJson) -> None:
    assert read_json({**KETTLE, "brand": "Acme"})["brand", ""] == ["Acme"]
    assert read_json({**KETTLE, "brand": {"@type": "Brand", "name": "Acme"}})["brand", ""] == ["Acme"]
    assert read_json({**KETTLE, "manufacturer": {"name": "Acme"}})["brand", ""] == ["Acme"]
    assert read_json({**KETTLE, "brand": "Acme", "manufacturer": "Other"})["brand", ""] == ["Acme"]


def test_every_gtin_property_is_a_gtin(read_json: ReadJson) -> None:
    for name in ("gtin", "gtin13", "GTIN8", "ean", "isbn", "upc"):
        assert read_json({**KETTLE, name: "4006381333931"})["gtin", ""] == ["4006381333931"]
    assert read_json({**KETTLE, "productID": "isbn:9780552173742"})["gtin", ""] == ["isbn:9780552173742"]
    assert ("gtin", "") not in read_json({**KETTLE, "productID": "sku:9780552173742"})


def test_a_model_is_a_part_number_only_if_it_is_a_code(read_json: ReadJson) -> None:
    assert read_json({**KETTLE, "model": "NC5100EF"})["mpn", ""] == ["NC5100EF"]
    assert ("mpn", "") not in read_json({**KETTLE, "model": "Alto"})
    assert read_json({**KETTLE, "mpn": "M-1", "model": "NC5100EF"})["mpn", ""] == ["M-1"]


def test_images_may_be_texts_or_items(read_json: ReadJson) -> None:
    images = ["https://a.example/1.jpg", {"@type": "ImageObject", "url": "https://a.example/2.jpg"}, None]
    assert read_json({**KETTLE, "image": images})["image", ""] == ["https://a.example/1.jpg", "https://a.example/2.jpg"]


def test_what_no_database_can_hold_is_replaced(read_html: ReadHtml) -> None:
    page = '<script type="application/ld+json">{"@type":"Product","name":"a\\u0000\\ud800b"}</script>'
    assert read_html(page)["name", ""] == ["a\ufffd\ufffdb"]
