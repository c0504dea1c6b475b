"""Which listing a capture is about."""

import pytest
from assay_stages.normalize.listing_key import listing_key
from assay_stages.normalize.urls import page_address
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("HTTP://Shop.Example/A?b=2&a=1#top", "http://shop.example/A?a=1&b=2"),
        ("https://shop.example/a?utm_source=x&UTM_medium=y&gclid=1&id=7&srsltid=2", "https://shop.example/a?id=7"),
        ("https://shop.example", "https://shop.example/"),
        ("https://shop.example:443/a", "https://shop.example/a"),
        ("https://shop.example:8443/a", "https://shop.example:8443/a"),
        ("https://shop.example/a/", "https://shop.example/a/"),
        ("https://shop.example/a%2Fb", "https://shop.example/a%2Fb"),
        ("https://shop.example/a?fbclid=1", "https://shop.example/a"),
        ("file:pages/one.html", "file:pages/one.html"),
        ("ftp://shop.example/a", None),
        ("not a url", None),
        (None, None),
    ],
)
def test_key_is_the_requested_address(url: str | None, key: str | None) -> None:
    assert listing_key(None, url) == key


def test_a_given_key_is_taken_as_it_is() -> None:
    assert listing_key("Row 7#a?utm_source=x", "https://shop.example/a") == "Row 7#a?utm_source=x"


@given(st.text(alphabet="ab/?&=#;%2F:@ äß", max_size=40))
def test_a_key_is_its_own_key(tail: str) -> None:
    key = listing_key(None, f"https://shop.example/{tail}")
    assert key is not None
    assert listing_key(None, key) == key


@given(st.permutations(["a=1", "b=2", "a=0", "utm_id=3", "c"]))
def test_the_order_of_a_query_makes_no_other_listing(pairs: list[str]) -> None:
    assert listing_key(None, "https://shop.example/x?" + "&".join(pairs)) == "https://shop.example/x?a=0&a=1&b=2&c"


def test_one_page_has_one_address_with_and_without_www() -> None:
    assert page_address("https://www.shop.example/a/?utm_id=1", None) == page_address("http://shop.example/a#x", None)
