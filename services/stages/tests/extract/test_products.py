"""Which product a page is about."""

from collections.abc import Callable

from assay_stages.extract import schema_org

Stated = dict[tuple[str, str], list[str]]
ReadHtml = Callable[[str], Stated]
ReadJson = Callable[[object], Stated]

KETTLE = {"@type": "Product", "name": "Kettle"}
TOASTER = {"@type": "Product", "name": "Toaster", "offers": {"price": "3"}}


def test_what_a_product_is_related_to_is_not_the_product(read_json: ReadJson) -> None:
    for edge in ("isRelatedTo", "isSimilarTo", "isAccessoryOrSparePartFor"):
        assert read_json({**KETTLE, edge: [TOASTER]})["name", ""] == ["Kettle"]


def test_what_a_review_or_a_list_names_is_not_the_product(read_json: ReadJson) -> None:
    assert read_json({"@type": "Review", "itemReviewed": TOASTER}) == {}
    assert read_json({"@type": "ItemList", "itemListElement": [{"item": TOASTER}]}) == {}


def test_the_page_address_chooses_among_products(read_json: ReadJson) -> None:
    here = {**KETTLE, "url": "https://www.shop.example/thing?utm_source=x"}
    assert read_json({"@graph": [TOASTER, here]})["name", ""] == ["Kettle"]


def test_the_heading_chooses_among_products(read_html: ReadHtml) -> None:
    page = """<h1> the KETTLE </h1>
    <div itemscope itemtype="https://schema.org/Product"><b itemprop="name">Toaster</b></div>
    <div itemscope itemtype="https://schema.org/Product"><b itemprop="name">Kettle</b></div>"""
    assert read_html(page)["name", ""] == ["Kettle"]


def test_a_list_of_products_is_about_no_one(read_json: ReadJson) -> None:
    assert read_json({"@graph": [KETTLE, TOASTER]}) == {}


def test_variants_of_one_name_are_counted_and_the_first_is_read() -> None:
    page = b"""<script type="application/ld+json">{"@graph": [
        {"@type": "product", "name": "Cardigan", "sku": "S"}, {"@type": "product", "name": "Cardigan", "sku": "M"}
    ]}</script>"""
    found = schema_org.read(page, "text/html", None)
    assert found.products == 2
    assert [fact.raw for fact in found.found] == ["Cardigan", "S"]
    assert {fact.node for fact in found.found} == {"0#/@graph/0"}


def test_what_offers_something_is_a_product_if_nothing_is_called_one(read_json: ReadJson) -> None:
    event = {"@type": "Event", "name": "Concert", "offers": {"price": "15", "priceCurrency": "EUR"}}
    assert read_json(event)["price", ""] == ["15"]
    assert read_json({"@graph": [event, KETTLE]})["name", ""] == ["Kettle"]
    assert read_json({"@type": "Organization", "name": "Shop"}) == {}


def test_microdata_of_another_product_does_not_mix_in(read_html: ReadHtml) -> None:
    script = '<script type="application/ld+json">{"@type":"Product","name":"Kettle"}</script>'
    markup = (
        '<div itemscope itemtype="http://schema.org/Product"><b itemprop="name">%s</b><i itemprop="sku">1</i></div>'
    )
    assert ("sku", "") not in read_html(script + markup % "Warm socks")
    assert read_html(script + markup % "Red Kettle")["sku", ""] == ["1"]
