"""Stage ④: what all adapters found in one capture becomes one reading of one product.

Kinds of source that agree outvote one that speaks alone; where none agree, JSON-LD speaks before markup, and
markup before OpenGraph, which often repeats a price without tax. What is outvoted stays, as a fact without value.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from assay_contracts import bounds

from assay_stages.extract.facts import MAX_FACTS, PlaceSyntax, RawFact
from assay_stages.normalize.identifiers import Problem
from assay_stages.normalize.values import canonical_value, value_of

_JSON_LD, _MARKUP, _OPENGRAPH = range(3)
_MANY = frozenset({"image", "category"})
_OFFER_PARTS = frozenset({"price", "price_high", "currency", "availability", "condition", "seller"})


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one adapter found in one artifact of the capture."""

    sha256: str
    adapter: str
    found: tuple[RawFact, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement with its value as canonical JSON, or the problem why it has none; `n` is its place in the order."""

    n: int
    sha256: str
    adapter: str
    name: str
    line: str
    raw: str
    value: str | None
    problem: str | None
    place_syntax: PlaceSyntax
    place: str


@dataclass(frozen=True, slots=True)
class Reading:
    """One product in one capture.

    node: names the product within its artifact. key_part: what the listing's key gets after the page's own ('' for
    the only product of a page). digest: SHA-256 over what is stated, so that two readings that say the same agree.
    """

    node: str
    key_part: str
    group_key: str | None
    profile: str
    digest: bytes
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class _Stated:
    """A fact with the kind of source that states it, the lower the more it is believed alone."""

    kind: int
    node: str
    fact: Fact


def read_product(extractions: Iterable[Extraction], url: str | None, profile: str) -> Reading | None:
    """Return the reading of a capture, None if no adapter found a product with a name.

    The lowest n of a name and line that has a value is what the reading says; `url` is the page's address. The
    order of the extractions makes no difference.
    """
    stated = [_stated(one, raw, url) for one in sorted(extractions, key=_by_name) for raw in one.found]
    stated.sort(key=lambda one: one.kind)
    spoken = _voted(_on_leading_lines(stated))[:MAX_FACTS]
    facts = tuple(replace(one.fact, n=n) for n, one in enumerate(spoken))
    if not any(fact.name == "name" and fact.value for fact in facts):
        return None
    return Reading(stated[0].node, "", None, profile, _digest(facts), facts)


def _by_name(extraction: Extraction) -> tuple[str, str]:
    return extraction.adapter, extraction.sha256


def _stated(extraction: Extraction, raw: RawFact, url: str | None) -> _Stated:
    value = value_of(raw.name, raw.raw, url)
    problem = value.reason if isinstance(value, Problem) else None
    fact = Fact(
        n=0,
        sha256=extraction.sha256,
        adapter=extraction.adapter,
        name=raw.name,
        line=raw.line,
        raw=raw.raw[: bounds.RAW],
        value=None if isinstance(value, Problem) else canonical_value(value),
        problem=problem,
        place_syntax=raw.place_syntax,
        place=raw.place,
    )
    return _Stated(_kind(extraction.adapter, raw.place_syntax), raw.node, fact)


def _kind(adapter: str, place_syntax: PlaceSyntax) -> int:
    if adapter.startswith("pa_opengraph@"):
        return _OPENGRAPH
    return _JSON_LD if place_syntax == "json_pointer" else _MARKUP


def _on_leading_lines(stated: Sequence[_Stated]) -> list[_Stated]:
    """Put offer parts on the lines of the first kind that states a price: other kinds show its offers again."""
    priced = [one for one in stated if one.fact.name == "price" and one.fact.value]
    lines = {one.fact.line for one in priced if one.kind == priced[0].kind}
    return [_on_line(one, lines) if priced and one.kind != priced[0].kind else one for one in stated]


def _on_line(one: _Stated, lines: set[str]) -> _Stated:
    fact = one.fact
    if fact.line in lines or (fact.name not in _OFFER_PARTS and not fact.line):
        return one
    if len(lines) == 1 and fact.name in _OFFER_PARTS:
        return replace(one, fact=replace(fact, line=min(lines)))
    return replace(one, fact=_silenced(fact, "other_line"))


def _voted(stated: Sequence[_Stated]) -> list[_Stated]:
    """Silence what other kinds of source outvote; what won comes first."""
    slots: dict[tuple[str, str], dict[str, set[int]]] = {}
    for one in stated:
        if one.fact.value is not None and one.fact.name not in _MANY:
            kinds = slots.setdefault((one.fact.name, one.fact.line), {})
            kinds.setdefault(one.fact.value, set()).add(one.kind)
    winners = {slot: _winner(kinds) for slot, kinds in slots.items()}
    won = [one for one in stated if winners.get((one.fact.name, one.fact.line)) == one.fact.value]
    rest = [one for one in stated if winners.get((one.fact.name, one.fact.line)) != one.fact.value]
    return won + [_beside(one, winners, slots) for one in rest]


def _winner(kinds: dict[str, set[int]]) -> str:
    """Choose the value that most kinds state; of several that of the most believed kind, the first it states."""
    return min(kinds, key=lambda value: (-len(kinds[value]), min(kinds[value])))


def _beside(
    one: _Stated, winners: dict[tuple[str, str], str], slots: dict[tuple[str, str], dict[str, set[int]]]
) -> _Stated:
    """Keep a second gtin of a kind that also states the first; silence every other value that did not win."""
    slot = (one.fact.name, one.fact.line)
    if one.fact.value is None or slot not in winners:
        return one
    if one.fact.name == "gtin" and one.kind in slots[slot][winners[slot]]:
        return one
    return replace(one, fact=_silenced(one.fact, "outvoted"))


def _silenced(fact: Fact, problem: str) -> Fact:
    return fact if fact.value is None else replace(fact, value=None, problem=problem)


def _digest(facts: Iterable[Fact]) -> bytes:
    said = sorted({(fact.name, fact.line, fact.value) for fact in facts if fact.value is not None})
    return hashlib.sha256(json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()).digest()
