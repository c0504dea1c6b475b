"""Settling is a pure function: pins, then trust, agreement and bytes; never the order of arrival."""

import random
from datetime import UTC, datetime, timedelta

from assay_resolver.reading import Evidence, Fact, Listing, ListingState, Reading, canonical, document_of
from assay_resolver.settle import Wanted, same_result, settle_item, settle_listing
from hypothesis import given
from hypothesis import strategies as st

from .world import code, number, text

EVIDENCE = Evidence(
    "rcpt_1", "cap_1", "src_a", "0" * 64, "text/html", "json_pointer", "0#/x", "raw", "pa_x@1.0.0", "np_x@1"
)
MOMENT = datetime(2026, 5, 1, tzinfo=UTC)


def listing(
    number_: int,
    *stated: tuple[str, dict[str, object]],
    source: str = "src_a",
    state: ListingState = "open",
    trust: int = 50,
    line: str = "",
) -> Listing:
    reading_id = f"rdg_{number_}"
    facts = tuple(Fact(reading_id, n, name, line, canonical(value), EVIDENCE) for n, (name, value) in enumerate(stated))
    observed = MOMENT + timedelta(hours=number_)
    reading = Reading(reading_id, "cap_1", source, f"k{number_}", None, None, b"", observed, observed, "r", 1, facts)
    return Listing(f"lst_{number_}", source, f"k{number_}", 1, None, state, trust, reading, "item_1")


def chosen(listings: list[Listing], name: str) -> dict[str, object]:
    return document_of(settle_item(listings, {}, {})[name, ""].value)


def test_trust_beats_number() -> None:
    many = [listing(n, ("color", text("red")), source=f"src_{n}") for n in range(3)]
    assert chosen([*many, listing(9, ("color", text("blue")), source="src_z", trust=60)], "color") == text("blue")


def test_agreeing_sources_beat_one() -> None:
    one = listing(1, ("color", text("azure")), source="src_a")
    two = [listing(n, ("color", text("blue")), source=f"src_{n}") for n in (2, 3)]
    assert chosen([one, *two], "color") == text("blue")


def test_many_listings_of_one_source_are_one_voice() -> None:
    same = [listing(n, ("color", text("blue")), source="src_a") for n in range(5)]
    assert chosen([*same, listing(9, ("color", text("azure")), source="src_b")], "color") == text("azure")


def test_open_beats_gone() -> None:
    gone = listing(1, ("color", text("azure")), state="gone", trust=90)
    assert chosen([gone, listing(2, ("color", text("red")))], "color") == text("red")


def test_a_guarded_value_stands_while_an_open_listing_states_it() -> None:
    accepted = canonical({"type": "list", "values": [code("2")]})
    both = [listing(1, ("gtin", code("1"))), listing(2, ("gtin", code("2")))]
    assert settle_item(both, {}, {"gtin": accepted})["gtin", ""].value == accepted
    assert chosen(both, "gtin") == {"type": "list", "values": [code("1")]}
    gone = [both[0], listing(2, ("gtin", code("2")), state="gone")]
    assert document_of(settle_item(gone, {}, {"gtin": accepted})["gtin", ""].value)["values"] == [code("1")]


def test_a_pin_stands_whatever_sources_say() -> None:
    pin = Fact("rdg_p", 0, "color", "", canonical(text("black")), EVIDENCE)
    wanted = settle_item([listing(1, ("color", text("red")), trust=100)], {"color": pin}, {})
    assert wanted["color", ""] == Wanted(pin.value, "person", (pin,))


def test_a_price_without_a_currency_stays_a_fact() -> None:
    assert settle_listing(listing(1, ("price", number("5")))) == {}
    with_stock = settle_listing(listing(1, ("price", number("5")), ("availability", code("in_stock"))))
    offer = document_of(with_stock["offer", ""].value)
    assert (offer["price"], offer["currency"], offer["availability"]) == (None, None, "in_stock")


def test_the_moment_alone_makes_no_new_offer() -> None:
    first, later = (
        settle_listing(listing(n, ("price", number("5")), ("currency", code("EUR"))))["offer", ""] for n in (1, 2)
    )
    assert first.value != later.value
    assert same_result((first.value, "rule"), later)


def test_an_offer_line_takes_its_own_sku() -> None:
    line = settle_listing(
        listing(1, ("price", number("5")), ("currency", code("EUR")), ("sku", code("A-1")), line="A-1")
    )
    assert document_of(line["offer", "A-1"].value)["sku"] == "A-1"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["red", "blue"])), min_size=1), st.integers())
def test_the_order_of_arrival_makes_no_difference(stated: list[tuple[str, str]], seed: int) -> None:
    listings = [
        listing(n, ("color", text(color)), ("image", {"type": "url", "url": f"https://x/{color}"}), source=f"src_{s}")
        for n, (s, color) in enumerate(stated)
    ]
    shuffled = random.Random(seed).sample(listings, len(listings))
    assert settle_item(listings, {}, {}) == settle_item(shuffled, {}, {})


def test_a_list_stays_small_enough_for_its_event() -> None:
    listings = [listing(n, ("category", text(f"{n:04}" + "€" * 1_996)), source=f"src_{n}") for n in range(50)]
    value = settle_item(listings, {}, {})["category", ""].value
    assert 0 < len(value.encode()) <= 70_000
