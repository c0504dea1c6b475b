"""Keys, vetoes and likeness, on words alone."""

from decimal import Decimal

import pytest
from assay_resolver.identity import Accept, Candidate, Create, Doubt, Key, exact, judge, keys_of, pack_count, score
from assay_resolver.reading import Reading

from .test_settle import listing
from .world import product

GTIN = Key("gtin", "04006381333931")


def reading(name: str, **more: str) -> Reading:
    return listing(1, *product(name, **more).items()).reading


def item(
    item_id: str = "item_1", name: str = "Lamp", brand: str = "", keys: tuple[Key, ...] = (), **more: bool
) -> Candidate:
    return Candidate(item_id, more.get("active", True), name, brand, frozenset(keys), more.get("verdict", False))


def test_a_brand_and_model_number_are_one_key_however_written() -> None:
    keys = {
        exact(keys_of(reading("x", brand=brand, mpn=mpn))) for brand, mpn in [("ACME", "ab-123"), (" Acme ", "AB 123")]
    }
    assert keys == {frozenset({Key("brand_mpn", "acme|AB123")})}


@pytest.mark.parametrize(
    "stated",
    [
        {"brand": "Unbranded", "mpn": "AB123"},
        {"brand": "Acme", "mpn": "A1"},
        {"brand": "Acme", "mpn": "ABCDE"},
        {"brand": "Acme", "mpn": "AB123", "sku": "ab-123"},
        {"mpn": "AB123"},
    ],
)
def test_what_is_no_model_number_makes_no_key(stated: dict[str, str]) -> None:
    assert exact(keys_of(reading("x", **stated))) == frozenset()


def test_one_key_to_one_item_is_accepted() -> None:
    known = {"item_1": item(keys=(GTIN,))}
    assert judge(reading("Lamp", gtin=GTIN.value), {GTIN: "item_1"}, known) == Accept("item_1", "gtin")


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        (item(keys=(GTIN,), active=False), "item_is_retired"),
        (item(keys=(GTIN,), verdict=True), "a_person_said_they_differ"),
        (item(keys=(GTIN,), name="Lamp pack of 3"), "other_pack_count"),
    ],
)
def test_a_veto_makes_an_exact_key_a_question(candidate: Candidate, reason: str) -> None:
    judged = judge(reading("Lamp", gtin=GTIN.value), {GTIN: "item_1"}, {"item_1": candidate})
    assert judged == Doubt("collision", reason, ("item_1",))


def test_nothing_alike_is_new() -> None:
    assert judge(reading("Steel kettle"), {}, {"item_1": item(name="Oak garden chair")}) == Create()


def test_a_shared_key_decides_nothing() -> None:
    key = Key("brand_mpn", "acme|AB123")
    judged = judge(reading("Lamp", brand="Acme", mpn="AB123"), {key: None}, {"item_1": item(name="Chair")})
    assert isinstance(judged, Doubt) and judged.reason == "key_is_shared"


@pytest.mark.parametrize(
    ("name", "count"),
    [("Socks", 1), ("Socks pack of 6", 6), ("Socks 12-pack", 12), ("Cola 24 ct", 24), ("Soap x3", 3), ("Nikon D40", 1)],
)
def test_pack_counts_are_read_from_names(name: str, count: int) -> None:
    assert pack_count(name) == count


def test_likeness_is_one_for_the_same_and_less_for_another_brand() -> None:
    same = score(reading("Acme lamp NL40", brand="Acme"), item(name="Acme lamp NL40", brand="Acme"))
    other = score(reading("Acme lamp NL40", brand="Acme"), item(name="Acme lamp NL40", brand="Other"))
    assert same.score == Decimal(1) and other.score < same.score


def test_words_that_no_index_entry_holds_stand_in_keys_by_their_hash() -> None:
    words = [character * 990 for character in "漢字語"]
    keys = keys_of(reading(" ".join(words) + " X100", brand="牌" * 1_900, mpn="AB-1234"))
    assert {"brand_mpn", "token_pair"} <= {key.kind for key in keys}
    assert max(len(key.value.encode()) for key in keys) < 1_000
