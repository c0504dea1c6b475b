"""What a source said last is what it says: a page that is gone takes its offer away, and brings it back."""

from dataclasses import replace

from assay_cli.captures import Page
from assay_contracts.timestamps import Timestamp

from .conftest import Open
from .pages import html, offered_twice, page_of

TRACKED = "?utm_source=mail#top"


def test_a_page_that_is_gone_takes_its_offer_and_its_return_brings_it_back(open_shop: Open) -> None:
    shop = open_shop("ten_returns")
    product = offered_twice(1)[0]
    offered = {product.gtin: [(f"src_{product.shop}_example", product.price)]}

    def see(page: Page, day: int, url: str) -> dict[str, list[tuple[str, str]]]:
        moment = Timestamp(f"2026-03-{day:02}T10:00:00Z")
        shop.ended(shop.hand_in(replace(page, observed_at=moment, url=url)))
        return shop.offers_by_gtin()

    missing = replace(html(product.url, "<h1>Not found</h1>"), fetch_status=404)
    assert see(page_of(product), 2, product.url) == offered
    assert see(missing, 1, product.url) == offered
    assert see(missing, 3, product.url + TRACKED) == {product.gtin: []}
    assert see(page_of(product), 4, product.url) == offered
