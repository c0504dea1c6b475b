"""Each reason for which a stated value does not stand, from the rule that decides."""

from dataclasses import replace

import pytest
from assay_resolver.contenders import ALIKE, GONE, GUARDED, PINNED, contenders
from assay_resolver.reading import Listing, canonical
from assay_resolver.settle import settle_item

from .test_settle import listing
from .world import code, text


def because(listings: list[Listing], name: str = "color") -> list[str]:
    """The reasons against whatever does not stand, when the rule decides."""
    standing = settle_item(listings, {}, {})[name, ""]
    assert standing is not None
    return [one.because for one in contenders(name, standing.value, standing.by, listings)]


@pytest.mark.parametrize(
    ("others", "reason"),
    [
        ([listing(2, ("color", text("red")), state="gone", trust=90)], GONE),
        ([listing(2, ("color", text("amber")), trust=20)], "its source is trusted less (20 against 50)"),
        (
            [listing(2, ("color", text("amber")), source="src_b"), listing(3, ("color", text("blue")), source="src_c")],
            "fewer sources state it (1 against 2)",
        ),
        ([listing(2, ("color", text("green")))], ALIKE),
    ],
)
def test_the_reason_is_that_of_the_rule(others: list[Listing], reason: str) -> None:
    assert because([listing(1, ("color", text("blue"))), *others]) == [reason]


def test_a_pin_stands_before_every_source() -> None:
    listings = [listing(1, ("color", text("blue"))), listing(2, ("color", text("red")))]
    losers = contenders("color", canonical(text("green")), "person", listings)
    assert [(one.value, one.because) for one in losers] == [(text("blue"), PINNED), (text("red"), PINNED)]


def test_the_first_accepted_gtin_stays() -> None:
    assert because([listing(1, ("gtin", code("1"))), listing(2, ("gtin", code("2")))], "gtin") == [GUARDED]


def test_a_union_has_no_losers_and_what_agrees_is_none() -> None:
    listings = [listing(1, ("image", text("a"))), listing(2, ("image", text("b")))]
    assert because(listings, "image") == []
    same = listing(1, ("color", text("blue")))
    assert because([same, replace(same, listing_id="lst_2")]) == []
