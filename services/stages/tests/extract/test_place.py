"""A place leads back to exactly what was read."""

import json

import pytest
from assay_stages.errors import PlaceNotFound
from assay_stages.extract import adapters, schema_org
from assay_stages.extract.place import read_at
from hypothesis import given
from hypothesis import strategies as st

HTML = "text/html; charset=utf-8"

texts = st.text(min_size=1, max_size=60)
scalars = texts | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
names = st.sampled_from(["name", "sku", "brand", "offers", "price", "image", "gtin13", "seller", "@graph", "a/b~c"])


@given(st.dictionaries(names, values, max_size=6))
def test_every_fact_of_any_json_rereads(data: dict[str, object]) -> None:
    script = json.dumps({"@type": "Product", **data}).replace("</", "<\\/")
    page = f'<p>x</p><script type="application/ld+json">{script}</script>'.encode()
    for fact in schema_org.read(page, HTML, "https://shop.example/").found:
        assert read_at(page, HTML, fact.place_syntax, fact.place) == fact.raw


fragments = st.sampled_from(
    [
        '<div itemscope itemtype="http://schema.org/Product">',
        '<div itemprop="offers" itemscope>',
        '<b itemprop="name">Kettle',
        '<i itemprop="price" content="5 €">',
        '<o:p itemprop="sku">K1</o:p>',
        '<a itemprop="url" href="/x">',
        "<tr>",
        "<td>",
        "</div>",
        "</b>",
        "<!-- c -->",
        "&amp;",
        "\ufeff",
        '<svg:a itemprop="description">',
        '<meta property="og:type" content="product">',
        '<meta property="og:title" content="Kettle">',
    ]
)


@given(st.lists(fragments | st.text(max_size=8), max_size=25).map("".join))
def test_every_fact_of_any_markup_rereads(page: str) -> None:
    data = page.encode("utf-8", "surrogatepass")
    for adapter in adapters.select(None):
        for fact in adapter.read(data, HTML, None).found:
            assert read_at(data, HTML, fact.place_syntax, fact.place) == fact.raw


@pytest.mark.parametrize(
    ("place_syntax", "place"),
    [
        ("json_pointer", "0#/nothing"),
        ("json_pointer", "7#/name"),
        ("json_pointer", "x#/name"),
        ("json_pointer", "0#"),
        ("xpath", "///"),
    ],
)
def test_a_place_that_is_not_there_is_said_so(place_syntax: str, place: str) -> None:
    page = b'<script type="application/ld+json">{"@type":"Product","name":"K"}</script>'
    with pytest.raises(PlaceNotFound):
        read_at(page, HTML, "xpath" if place_syntax == "xpath" else "json_pointer", place)


def test_the_page_says_its_own_encoding() -> None:
    page = '<meta charset="windows-1251"><p itemscope itemtype="Product"><b itemprop="name">Чайник</b></p>'
    data = page.encode("windows-1251")
    (fact,) = schema_org.read(data, "text/html", None).found
    assert fact.raw == "Чайник"
    assert read_at(data, "text/html", fact.place_syntax, fact.place) == "Чайник"
    assert schema_org.read(page.encode(), HTML, None).found[0].raw == "Чайник", "the media type is asked first"
