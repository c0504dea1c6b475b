"""Meta tags: when they speak of a product, and which of them."""

from collections.abc import Callable

from assay_stages.extract import opengraph

Stated = dict[tuple[str, str], list[str]]
ReadHtml = Callable[[str], Stated]


def metas(**contents: str) -> str:
    return "".join(
        f'<meta property="{name.replace("_", ":")}" content="{content}">' for name, content in contents.items()
    )


def test_a_product_type_or_a_price_tag_makes_a_product(read_metas: ReadHtml) -> None:
    assert read_metas(metas(og_type="og:product", og_title="Kettle"))["name", ""] == ["Kettle"]
    assert read_metas(metas(og_title="Kettle", product_price_amount="20"))["price", ""] == ["20"]
    assert read_metas(metas(og_type="article", og_title="Kettles of the world")) == {}


def test_the_sale_price_is_the_price(read_metas: ReadHtml) -> None:
    page = metas(product_price_amount="1148.00", product_sale__price_amount="997.00", og_type="product")
    page = page.replace("sale::price", "sale_price")
    assert read_metas(page)["price", ""] == ["997.00"]


def test_a_currency_within_the_price_is_read_only_if_no_tag_states_one(read_metas: ReadHtml) -> None:
    assert read_metas(metas(og_price="20 €"))["currency", ""] == ["20 €"]
    assert read_metas(metas(og_price="20 €", og_price_currency="PLN"))["currency", ""] == ["PLN"]


def test_tags_may_use_name_for_property_and_any_case(read_metas: ReadHtml) -> None:
    page = '<meta name="OG:Type" content="product"><meta name="Product:Retailer_Item_Id" content="K1">'
    assert read_metas(page)["sku", ""] == ["K1"]


def test_empty_tags_state_nothing(read_metas: ReadHtml) -> None:
    assert read_metas(metas(og_type="product", og_title=" ")) == {}


def test_images_are_bounded(read_metas: ReadHtml) -> None:
    page = metas(og_type="product") + '<meta property="og:image" content="/k.jpg">' * 100
    assert len(read_metas(page)["image", ""]) == opengraph.MAX_IMAGES
