"""Adapters are listed, and a pin means one of them exactly."""

import pytest
from assay_stages.errors import UnknownPin
from assay_stages.extract import adapters
from assay_stages.extract.facts import MAX_FACTS, RawFact, bounded, from_json, to_json


def test_without_a_pin_all_adapters_read_in_their_order() -> None:
    assert [adapter.version for adapter in adapters.select(None)] == ["pa_schema_org@1.0.0", "pa_opengraph@1.0.0"]


def test_a_pin_selects_one_version() -> None:
    assert [adapter.version for adapter in adapters.select("pa_opengraph@1.0.0")] == ["pa_opengraph@1.0.0"]


@pytest.mark.parametrize("pin", ["pa_opengraph", "pa_opengraph@1.0.1", "", "np_product@1"])
def test_an_unlisted_adapter_is_refused(pin: str) -> None:
    with pytest.raises(UnknownPin):
        adapters.select(pin)


@pytest.mark.parametrize("media_type", ["image/png", "application/pdf", "application/json"])
def test_what_is_no_page_holds_nothing(media_type: str) -> None:
    assert {adapter.read(b"<p>", media_type, None).outcome for adapter in adapters.select(None)} == {"nothing"}


def test_found_facts_survive_their_column() -> None:
    facts = (RawFact("0#", "name", "", "Zürich \u2028 \ufffd", "json_pointer", "0#/name"),)
    assert from_json(to_json(facts)) == facts


def test_facts_that_cannot_be_stored_are_not_kept() -> None:
    kept = RawFact("0#", "name", "", "K", "json_pointer", "0#/name")
    far = RawFact("0#", "name", "", "K", "json_pointer", "0#/" + "a" * 1_000)
    unplaced = RawFact("", "name", "", "K", "xpath", "/@content")
    assert bounded([far, unplaced, kept]) == (kept,)
    assert len(bounded([kept] * (MAX_FACTS + 1))) == MAX_FACTS
