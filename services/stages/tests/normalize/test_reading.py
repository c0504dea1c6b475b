"""What several kinds of source say becomes one reading."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import pytest
from assay_stages.errors import UnknownPin
from assay_stages.extract.facts import MAX_FACTS, RawFact
from assay_stages.normalize import profiles
from assay_stages.normalize.reading import Extraction, Fact, Reading

SCHEMA_ORG, OPENGRAPH = "pa_schema_org@1.0.0", "pa_opengraph@1.0.0"
URL = "https://shop.example/kettle"


def script(name: str, raw: str, line: str = "") -> RawFact:
    return RawFact("0#", name, line, raw, "json_pointer", f"0#/{name}")


def markup(name: str, raw: str, line: str = "") -> RawFact:
    return RawFact("/html/body/div", name, line, raw, "xpath", f"/html/body/div/{name}")


def page(*facts: RawFact) -> Extraction:
    return Extraction("1" * 64, SCHEMA_ORG, facts)


def metas(**facts: str) -> Extraction:
    found = tuple(RawFact("opengraph", name, "", raw, "xpath", f"/meta/{name}") for name, raw in facts.items())
    return Extraction("1" * 64, OPENGRAPH, found)


def read(*extractions: Extraction) -> Reading:
    reading = profiles.select(None).read_product(extractions, URL)
    assert reading is not None
    return reading


def plain(value: str | None) -> str | None:
    document: dict[str, str] = json.loads(value) if value else {}
    return next((text for name, text in document.items() if name in ("text", "code", "number", "url")), None)


def says(reading: Reading, name: str, line: str = "") -> str | None:
    """What the decision takes: the value of the lowest n."""
    return next(
        (plain(fact.value) for fact in reading.facts if (fact.name, fact.line) == (name, line) and fact.value), None
    )


def problems(facts: Sequence[Fact]) -> dict[str, str]:
    return {fact.raw: fact.problem for fact in facts if fact.problem}


def test_a_reading_needs_a_name() -> None:
    profile = profiles.select(None)
    assert profile.read_product([page(script("price", "20"))], URL) is None
    assert profile.read_product([page(script("name", " "))], URL) is None
    assert profile.read_product([], URL) is None


def test_two_kinds_that_agree_outvote_one() -> None:
    reading = read(page(script("name", "K"), script("price", "19"), markup("price", "20.00")), metas(price="20"))
    assert says(reading, "price") == "20"
    assert problems(reading.facts) == {"19": "outvoted"}


def test_where_none_agree_scripts_come_before_markup_before_metas() -> None:
    reading = read(
        page(markup("name", "K"), markup("price", "71,91 €"), script("brand", "A")), metas(price="67.84", brand="B")
    )
    assert says(reading, "price") == "71.91"
    assert says(reading, "brand") == "A"
    assert problems(reading.facts) == {"67.84": "outvoted", "B": "outvoted"}


def test_facts_that_agree_stay_as_support() -> None:
    reading = read(page(script("name", "Kettle")), metas(name=" Kettle "))
    assert [(fact.adapter, plain(fact.value)) for fact in reading.facts] == [
        (SCHEMA_ORG, "Kettle"),
        (OPENGRAPH, "Kettle"),
    ]


def test_a_statement_without_a_value_says_why_and_outvotes_nothing() -> None:
    reading = read(
        page(script("name", "K"), script("brand", "Unbranded"), script("currency", "$")), metas(brand="Acme")
    )
    assert says(reading, "brand") == "Acme"
    assert says(reading, "currency") is None
    assert problems(reading.facts) == {"Unbranded": "no_brand", "$": "no_iso_currency"}


def test_every_fact_has_a_value_or_a_problem_and_its_number() -> None:
    reading = read(page(script("name", "K"), script("sku", ""), script("rating", "5")), metas(name="Kettle", price="x"))
    assert all((fact.value is None) == (fact.problem is not None) for fact in reading.facts)
    assert [fact.n for fact in reading.facts] == list(range(5))


def test_images_are_a_union() -> None:
    reading = read(page(script("name", "K"), script("image", "/1.jpg")), metas(image="/2.jpg"))
    images = [plain(fact.value) for fact in reading.facts if fact.name == "image"]
    assert images == ["https://shop.example/1.jpg", "https://shop.example/2.jpg"]


def test_gtins_of_the_kind_that_won_stay_and_the_agreed_one_comes_first() -> None:
    ours, second, other = "4006381333931", "4005556050178", "5901885533094"
    reading = read(page(script("name", "K"), script("gtin", second), script("gtin", ours)), metas(gtin=ours))
    assert says(reading, "gtin") == "0" + ours
    assert [fact.raw for fact in reading.facts if fact.name == "gtin" and fact.value] == [ours, ours, second]
    reading = read(page(script("name", "K"), script("gtin", ours)), metas(gtin=other))
    assert problems(reading.facts) == {other: "outvoted"}


def test_offer_parts_of_other_kinds_join_the_only_line() -> None:
    reading = read(
        page(script("name", "K"), script("price", "20", "Ann"), script("seller", "Ann", "Ann")),
        metas(price="20", currency="EUR", availability="in stock"),
    )
    assert says(reading, "currency", "Ann") == "EUR"
    assert says(reading, "availability", "Ann") == "in_stock"
    assert says(reading, "price") is None


def test_offer_parts_of_other_kinds_are_silent_beside_several_lines() -> None:
    reading = read(page(script("name", "K"), script("price", "20", "S"), script("price", "22", "L")), metas(price="20"))
    assert (says(reading, "price", "S"), says(reading, "price", "L"), says(reading, "price")) == ("20", "22", None)
    assert reading.facts[-1].problem == "other_line"


def test_an_offers_own_sku_is_not_the_listings() -> None:
    reading = read(
        page(script("name", "K"), script("price", "20"), markup("sku", "K-S", "K-S"), markup("price", "20", "K-S"))
    )
    assert says(reading, "sku") is None
    assert problems(reading.facts) == {"K-S": "other_line"}


def test_the_digest_is_over_what_is_said() -> None:
    one = read(page(script("name", "Kettle"), script("price", "20.00")), metas(name="Kettle"))
    moved = read(Extraction("2" * 64, SCHEMA_ORG, (script("price", "20,00 €"), markup("name", "Kettle"))))
    assert one.digest == moved.digest
    assert len(one.digest) == 32
    assert one.digest != read(page(script("name", "Kettle"), script("price", "21"))).digest
    assert one.digest != read(page(script("name", "Kettle"), script("price", "20", "S"))).digest


def test_the_order_of_extractions_makes_no_difference() -> None:
    extractions = [
        page(markup("name", "K"), script("name", "Kettle")),
        metas(name="Kettle", price="20"),
        replace(page(script("name", "Kettle")), sha256="0" * 64),
    ]
    assert len({read(*order) for order in permutations(extractions)}) == 1


def test_raw_and_number_of_facts_fit_their_columns() -> None:
    many = page(script("name", "K"), *(script("image", f"/{n}.jpg" + "x" * 2_000) for n in range(MAX_FACTS)))
    reading = read(many, metas(name="K"))
    assert len(reading.facts) == MAX_FACTS
    assert max(len(fact.raw) for fact in reading.facts) == 1_000


def test_the_node_is_that_of_the_most_believed_kind() -> None:
    assert read(metas(name="K"), page(markup("name", "K"))).node == "/html/body/div"
    assert read(metas(name="K")).node == "opengraph"


@pytest.mark.parametrize("pin", ["np_product", "np_product@2", "pa_schema_org@1.0.0", ""])
def test_an_unlisted_profile_is_refused(pin: str) -> None:
    with pytest.raises(UnknownPin):
        profiles.select(pin)


def test_a_profile_names_itself_in_its_readings() -> None:
    assert read(metas(name="K")).profile == profiles.select("np_product@1").version == "np_product@1"
