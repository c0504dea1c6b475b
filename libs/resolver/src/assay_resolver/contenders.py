"""What else an item's sources state for a value, and why it does not stand: the order of `settle`, told in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from assay_resolver import registry
from assay_resolver.reading import Fact, Listing, canonical, document_of

PINNED: Final = "a person's value stands before any source's"
GUARDED: Final = "the first accepted value stays while an open listing states it"
GONE: Final = "its page is gone, and another's is not"
ALIKE: Final = "nothing tells them apart but the order of their bytes"

_Stated = Sequence[tuple[Listing, Fact]]


@dataclass(frozen=True, slots=True)
class Contender:
    """A value that is stated and does not stand. raw: as the page has it; because: what decided against it."""

    value: dict[str, object]
    raw: str
    fact: str
    source_id: str
    listing_id: str
    because: str


def contenders(name: str, value: str, by: str, listings: Sequence[Listing]) -> tuple[Contender, ...]:
    """The losing statements for an item's attribute, each value once, best first; a union by rule has none.

    `value` is the accepted one as canonical JSON, `by` rule or person.
    """
    attribute = registry.ITEM[name]
    if attribute.many and not attribute.guarded and by == "rule":
        return ()
    ranked = sorted(listings, key=lambda one: one.rank)
    stated = [(listing, fact) for listing in ranked if (fact := listing.reading.first(name)) is not None]
    standing = _members(value) if attribute.many else {value}
    found: dict[str, Contender] = {}
    for listing, fact in stated:
        if fact.value in standing or fact.value in found:
            continue
        because = PINNED if by == "person" else GUARDED if attribute.guarded else _because(fact.value, value, stated)
        found[fact.value] = Contender(
            value=fact.document,
            raw=fact.evidence.raw,
            fact=f"{fact.reading_id}:{fact.n}",
            source_id=listing.source_id,
            listing_id=listing.listing_id,
            because=because,
        )
    return tuple(found.values())


def _members(value: str) -> set[str]:
    values = cast("list[dict[str, object]]", document_of(value)["values"])
    return {canonical(one) for one in values}


def _because(losing: str, standing: str, stated: _Stated) -> str:
    (gone, less), few = _weight(losing, stated)
    (still, more), many = _weight(standing, stated)
    if gone != still:
        return GONE
    if less != more:
        return f"its source is trusted less ({-less} against {-more})"
    if few != many:
        return f"fewer sources state it ({few} against {many})"
    return ALIKE


def _weight(value: str, stated: _Stated) -> tuple[tuple[int, int], int]:
    """Best (gone, trust negated) and the number of sources of a value, as `settle` orders them."""
    stating = [listing for listing, fact in stated if fact.value == value]
    return min(listing.rank[:2] for listing in stating), len({listing.source_id for listing in stating})
