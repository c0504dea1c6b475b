"""What is sent twice takes effect once; what two tenants send stays each one's own."""

from .conftest import Open
from .pages import offered_twice, page_of


def test_the_same_capture_sent_twice_has_one_receipt_and_one_effect(open_shop: Open) -> None:
    shop = open_shop("ten_twice")
    page = page_of(offered_twice(1)[0])
    first, second = shop.hand_in(page), shop.hand_in(page)
    assert first == second
    assert len(shop.ended(first)["jobs"]) == 3  # pyright: ignore[reportArgumentType]
    assert shop.offers_by_gtin() == {offered_twice(1)[0].gtin: [("src_alpha_example", "10.25")]}


def test_two_tenants_with_the_same_page_share_nothing(open_shop: Open) -> None:
    one, other = open_shop("ten_this"), open_shop("ten_that")
    page = page_of(offered_twice(1)[0])
    receipts = [shop.hand_in(page) for shop in (one, other)]
    assert receipts[0]["capture_id"] != receipts[1]["capture_id"]
    for shop, receipt in zip((one, other), receipts, strict=True):
        shop.ended(receipt)
    mine, theirs = one.items(), other.items()
    assert len(mine) == len(theirs) == 1
    assert mine[0]["item_id"] != theirs[0]["item_id"]
