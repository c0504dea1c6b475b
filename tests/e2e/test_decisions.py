"""What people decide about items reaches the catalog that is read, and what they undo leaves it."""

from typing import cast

from assay_cli.client import Document
from assay_cli.commands.output import rows_of

from .conftest import Open
from .pages import Product, gtin_of, page_of
from .shop import CATALOG, Shop

BECAUSE = "the photos agree"


def decide(shop: Shop, path: str, name: str, **body: object) -> Document:
    """One decision, and the catalog once it has come to rest."""
    decided = shop.client.post("resolver", f"{path}?catalog={CATALOG}", {"rationale": BECAUSE, **body}, name)
    shop.items()
    return decided


def show(shop: Shop, item_id: str) -> Document:
    """An item as it can be read, at the end of its redirects."""
    address = f"{shop.client.addresses['product']}/v1/catalogs/{CATALOG}/items/{item_id}"
    return cast("Document", shop.client.http.get(address, follow_redirects=True).json())


def listings_of(item: Document) -> list[str]:
    """Its listings' ids."""
    return sorted(str(one["listing_id"]) for one in rows_of(item["listings"]))


def test_merge_split_and_undo_reach_the_projection(open_shop: Open) -> None:
    shop = open_shop("ten_decides")
    for number in (71, 72):
        shop.ended(shop.hand_in(page_of(Product("alpha", number, gtin_of(number), "10.25"))))
    one, other = sorted(str(item["item_id"]) for item in shop.items())
    moved = listings_of(show(shop, other))

    merged = decide(shop, f"/v1/items/{other}/merge", "merge", into=one, expected_revision=1, into_revision=1)
    assert [item["item_id"] for item in shop.items()] == [one]
    assert show(shop, other)["item_id"] == one
    assert set(moved) < set(listings_of(show(shop, one)))

    split = decide(shop, f"/v1/items/{one}/split", "split", listings=moved, expected_revision=1)
    new = next(str(event["id"]) for event in rows_of(split["events"]) if event["type"] == "item.created")
    assert listings_of(show(shop, new)) == moved
    decide(shop, f"/v1/decisions/{split['decision_id']}/undo", "undo-split")
    assert (show(shop, new)["state"], show(shop, new)["because"]) == ("retired", "undone")

    decide(shop, f"/v1/decisions/{merged['decision_id']}/undo", "undo-merge")
    assert sorted(str(item["item_id"]) for item in shop.items()) == [one, other]
    assert listings_of(show(shop, other)) == moved

    decide(shop, f"/v1/items/{other}/retire", "retire", reason="not_a_product", expected_revision=3)
    assert [item["item_id"] for item in shop.items()] == [one]
    decide(shop, f"/v1/items/{other}/revive", "revive", expected_revision=4)
    decide(shop, f"/v1/listings/{moved[0]}/clear", "clear", expected_revision=5)
    assert listings_of(show(shop, other)) == []
