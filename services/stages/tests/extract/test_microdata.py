"""Microdata in the wild: which attribute holds a value, and to which item it belongs."""

from collections.abc import Callable

import pytest

Stated = dict[tuple[str, str], list[str]]
ReadHtml = Callable[[str], Stated]

PRODUCT = '<div itemscope itemtype="http://schema.org/Product"><h1 itemprop="name">Kettle</h1>{}</div>'


@pytest.mark.parametrize(
    ("markup", "name", "raw"),
    [
        ('<meta itemprop="sku" content="K1">', "sku", "K1"),
        ('<span itemprop="sku" content="K1">K one</span>', "sku", "K1"),
        ('<span itemprop="sku" content=" ">K1</span>', "sku", "K1"),
        ('<a itemprop="brand" href="/acme">Acme</a>', "brand", "Acme"),
        ('<a itemprop="url" href="/kettle">see</a>', "url", "/kettle"),
        ('<img itemprop="image" src="/k.jpg">', "image", "/k.jpg"),
        ('<link itemprop="image" href="/k.jpg">', "image", "/k.jpg"),
        ('<data itemprop="gtin13" value="4006381333931">code</data>', "gtin", "4006381333931"),
        ('<p itemprop="description">Boils <b>water</b>.</p>', "description", "Boils water."),
        ('<meta itemprop="brand" itemscope itemtype="http://schema.org/Brand" content="Acme">', "brand", "Acme"),
        ('<p itemprop="brand" itemscope><i itemprop="name">Acme</i></p>', "brand", "Acme"),
        ('<i itemprop="mpn productID">K-100</i>', "mpn", "K-100"),
        ('<i itemprop="MPN">K-100</i>', "mpn", "K-100"),
    ],
)
def test_value_is_read_from_where_it_stands(read_html: ReadHtml, markup: str, name: str, raw: str) -> None:
    assert read_html(PRODUCT.format(markup))[name, ""] == [raw]


def test_offer_is_read_with_its_links_and_metas(read_html: ReadHtml) -> None:
    offer = """<div itemprop="offers" itemscope itemtype="http://schema.org/Offer">
    <meta itemprop="pricecurrency" content="EUR"><span itemprop="price">
      71,91 </span><link itemprop="availability" href="http://schema.org/InStock"></div>"""
    found = read_html(PRODUCT.format(offer))
    assert found["price", ""] == ["\n      71,91 "]
    assert found["currency", ""] == ["EUR"]
    assert found["availability", ""] == ["http://schema.org/InStock"]


def test_an_item_within_the_product_keeps_its_own_names(read_html: ReadHtml) -> None:
    crumbs = '<ol itemscope itemtype="http://schema.org/BreadcrumbList"><i itemprop="name">Home</i></ol>'
    other = '<div itemprop="isRelatedTo" itemscope itemtype="http://schema.org/Product"><b itemprop="sku">9</b></div>'
    found = read_html(PRODUCT.format(crumbs + other))
    assert found["name", ""] == ["Kettle"]
    assert ("sku", "") not in found


def test_the_name_in_the_heading_wins_over_names_of_related_products(read_html: ReadHtml) -> None:
    page = """<body itemscope itemtype="http://schema.org/Product"><p itemprop="name">Toaster</p>
    <h1 itemprop="name">Kettle</h1><p itemprop="name">Pan</p></body>"""
    assert read_html(page)["name", ""] == ["Kettle"]


def test_a_script_is_no_value(read_html: ReadHtml) -> None:
    assert ("sku", "") not in read_html(PRODUCT.format('<script itemprop="sku">K1</script>'))
