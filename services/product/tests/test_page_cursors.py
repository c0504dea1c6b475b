"""Page cursors carry their generation."""

import pytest
from assay_product.errors import StalePage
from assay_product.page_cursors import Live, decode, encode
from assay_product.search import patterns

LIVE = Live("cat_a", "history-1", 3, 10)


def test_a_cursor_names_the_item_after_which_it_goes_on() -> None:
    assert decode(LIVE, encode(LIVE, "item_7")) == "item_7"
    assert decode(LIVE, None) == ""


@pytest.mark.parametrize("cursor", ["", "%%%", "é", "aGVsbG8", encode(LIVE._replace(generation=4), "item_7")])
def test_any_other_cursor_is_stale(cursor: str) -> None:
    with pytest.raises(StalePage):
        decode(LIVE, cursor)


def test_what_a_person_types_is_no_pattern() -> None:
    assert patterns("100%_A\\") == [["%100\\%\\_a\\\\%"]]
    assert patterns("\uff21CME  kettle") == [["%acme%"], ["%kettle%"]]


def test_a_gtin_is_also_looked_for_as_it_is_stored() -> None:
    assert patterns("4006381333931") == [["%4006381333931%", "%04006381333931%"]]
    assert patterns("12345") == [["%12345%"]]
