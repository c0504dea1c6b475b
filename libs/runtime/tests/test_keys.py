"""API keys: recognisable when leaked, useless when altered, and one answer for every kind of wrong."""

import pytest
from assay_runtime import keys
from assay_runtime.errors import InvalidKey
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

PEPPER = SecretStr("pepper-of-the-tests")


def test_a_minted_key_verifies_under_its_pepper_alone() -> None:
    minted = keys.mint(PEPPER)
    text = minted.text.get_secret_value()
    assert keys.parse(text) == minted.key_id
    assert keys.verify(PEPPER, text, minted.mac)
    assert not keys.verify(SecretStr("another pepper of tests"), text, minted.mac)


def test_a_minted_key_does_not_show_itself() -> None:
    minted = keys.mint(PEPPER)
    assert minted.text.get_secret_value() not in repr(minted)


def test_an_unknown_key_is_never_right() -> None:
    text = keys.mint(PEPPER).text.get_secret_value()
    assert not keys.verify(PEPPER, text, None)
    assert not keys.verify(PEPPER, text, bytes(32))


@given(st.data())
def test_any_altered_character_breaks_the_checksum(data: st.DataObject) -> None:
    text = keys.mint(PEPPER).text.get_secret_value()
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.characters(codec="utf-8").filter(lambda character: character != text[place]))
    with pytest.raises(InvalidKey):
        keys.parse(text[:place] + other + text[place + 1 :])


@pytest.mark.parametrize("suffix", ["\n", " ", "0"])
def test_a_key_with_a_tail_is_refused(suffix: str) -> None:
    with pytest.raises(InvalidKey):
        keys.parse(keys.mint(PEPPER).text.get_secret_value() + suffix)
