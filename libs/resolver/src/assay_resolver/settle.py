"""⑤ Derives accepted values from what sources and people assert: a pure function, the same in any order of arrival."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from assay_contracts.timestamps import timestamp

from assay_resolver import registry
from assay_resolver.reading import Document, Fact, Listing, canonical, document_of

MAX_SUPPORT = 20
MAX_LIST = 50
MAX_LIST_BYTES = 65_536
"""Of a list's values together, so that no rule makes an event larger than its topic takes."""

By = Literal["rule", "person"]
Slot = tuple[str, str]
"""(attribute name, line) of one owner; line is '' where there is none."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A value that should be accepted, who says so, and the facts it rests on (1 to 20)."""

    value: str
    by: By
    support: tuple[Fact, ...]


def settle_item(
    listings: Iterable[Listing], pins: Mapping[str, Fact], accepted: Mapping[str, str]
) -> dict[Slot, Wanted]:
    """What an item's attributes should be, from its listings, its standing pins and what is accepted now.

    accepted: attribute name to canonical value; it matters for guarded attributes only.
    """
    ranked = sorted((one for one in listings if one.state != "rejected"), key=lambda one: one.rank)
    wanted: dict[Slot, Wanted] = {}
    for attribute in registry.ITEM.values():
        value = _choose(attribute, ranked, pins.get(attribute.name), accepted.get(attribute.name))
        if value is not None:
            wanted[attribute.name, ""] = value
    return wanted


def settle_listing(listing: Listing) -> dict[Slot, Wanted]:
    """What a mapped listing's own attributes should be: its offers while it is open, its sku and url."""
    if listing.item_id is None:
        return {}
    wanted: dict[Slot, Wanted] = {}
    for name in ("sku", "url"):
        fact = listing.reading.first(name)
        if fact is not None:
            wanted[name, ""] = Wanted(fact.value, "rule", (fact,))
    if listing.state == "open":
        for line in _offer_lines(listing):
            offer = _offer(listing, line)
            if offer is not None:
                wanted["offer", line] = offer
    return wanted


def same_result(current: tuple[str, str] | None, wanted: Wanted) -> bool:
    """Whether (value, by) already stands; an offer's valid_at alone makes no difference."""
    return current is not None and current[1] == wanted.by and _comparable(current[0]) == _comparable(wanted.value)


def _comparable(value: str) -> str:
    document = document_of(value)
    document.pop("valid_at", None)
    return canonical(document)


def _choose(
    attribute: registry.Attribute, ranked: Sequence[Listing], pin: Fact | None, accepted: str | None
) -> Wanted | None:
    if pin is not None:
        return Wanted(pin.value, "person", (pin,))
    if attribute.guarded:
        return _guarded(attribute.name, ranked, accepted)
    if attribute.many:
        return _union(attribute.name, ranked)
    return _best(attribute.name, ranked)


def _best(name: str, ranked: Sequence[Listing]) -> Wanted | None:
    """Open before gone, then source trust, then the number of agreeing sources, then the value's bytes."""
    stated = [(listing, fact) for listing in ranked if (fact := listing.reading.first(name)) is not None]
    if not stated:
        return None
    by_value: dict[str, list[tuple[Listing, Fact]]] = {}
    for listing, fact in stated:
        by_value.setdefault(fact.value, []).append((listing, fact))

    def order(value: str) -> tuple[tuple[int, int], int, bytes]:
        sources = {listing.source_id for listing, _ in by_value[value]}
        return (min(listing.rank[:2] for listing, _ in by_value[value]), -len(sources), value.encode())

    value = min(by_value, key=order)
    return Wanted(value, "rule", _agreeing(ranked, name, value))


def _agreeing(ranked: Sequence[Listing], name: str, value: str) -> tuple[Fact, ...]:
    facts = [
        fact
        for listing in ranked
        for fact in listing.reading.facts
        if fact.name == name and fact.line == "" and fact.value == value
    ]
    return tuple(facts[:MAX_SUPPORT])


def _union(name: str, ranked: Sequence[Listing]) -> Wanted | None:
    first: dict[str, Fact] = {}
    for listing in ranked:
        for fact in listing.reading.facts:
            if fact.name == name and fact.line == "":
                first.setdefault(fact.value, fact)
    sizes = accumulate(len(value.encode()) for value in first)
    kept = [value for value, size in zip(first, sizes, strict=True) if size <= MAX_LIST_BYTES][:MAX_LIST]
    return _list_of(kept, tuple(first[value] for value in kept)) if kept else None


def _guarded(name: str, ranked: Sequence[Listing], accepted: str | None) -> Wanted | None:
    """The accepted value while an open listing states it, else that of the first listing by its name."""
    if accepted is not None:
        standing = [canonical(value) for value in _values(accepted)]
        support = [fact for value in standing for fact in _agreeing(_open(ranked), name, value)]
        if len(standing) == 1 and support:
            return Wanted(accepted, "rule", tuple(support[:MAX_SUPPORT]))
    for listings in (_open(ranked), ranked):
        for listing in sorted(listings, key=lambda one: one.rank[2:]):
            fact = listing.reading.first(name)
            if fact is not None:
                return _list_of([fact.value], _agreeing(ranked, name, fact.value))
    return None


def _open(ranked: Sequence[Listing]) -> list[Listing]:
    return [listing for listing in ranked if listing.state == "open"]


def _values(accepted: str) -> list[Document]:
    values = document_of(accepted)["values"]
    assert isinstance(values, list)
    return values  # pyright: ignore[reportUnknownVariableType]  # a ListValue document, from our own column


def _list_of(values: Sequence[str], support: tuple[Fact, ...]) -> Wanted:
    document = {"type": "list", "values": [document_of(value) for value in values]}
    return Wanted(canonical(document), "rule", support[:MAX_SUPPORT])


def _offer_lines(listing: Listing) -> list[str]:
    return sorted({fact.line for fact in listing.reading.facts if fact.name in registry.OFFER_PARTS})


def _offer(listing: Listing, line: str) -> Wanted | None:
    """Compose one line's facts; a price without a currency stays a fact, and an offer needs a price or availability."""
    reading = listing.reading
    parts = {name: fact for name in registry.OFFER_PARTS if (fact := reading.first(name, line)) is not None}
    currency = parts.get("currency")
    if currency is None:
        parts.pop("price", None)
    if "price" not in parts:
        parts.pop("price_high", None)
        parts.pop("currency", None)
    if not parts.keys() & {"price", "availability"}:
        return None
    sku = reading.first("sku", line)
    if sku is not None:
        parts["sku"] = sku
    document: dict[str, object] = {"type": "offer", "valid_at": timestamp(reading.observed_at)}
    for name in (*sorted(registry.OFFER_PARTS), "sku"):
        document[name] = _plain(parts[name]) if name in parts else None
    support = tuple(parts[name] for name in sorted(parts))
    return Wanted(canonical(document), "rule", support)


def _plain(fact: Fact) -> object:
    """The bare content of a scalar value document."""
    document = fact.document
    return next(document[key] for key in ("text", "code", "number", "flag", "url", "amount") if key in document)
