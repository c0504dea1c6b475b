"""The offers of a product, wherever in the graph they stand, and the line that each belongs to."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice

from assay_stages.extract.facts import LINE_KEPT, MAX_LINES
from assay_stages.extract.items import Graph, Item, Text
from assay_stages.normalize.amounts import read_amount
from assay_stages.normalize.currencies import find_currency
from assay_stages.normalize.text import clean

MAX_OFFERS = 1_000
MAX_SPECIFICATIONS = 10

_PART_OF = {
    "price": ("price", "lowprice"),
    "price_high": ("highprice",),
    "currency": ("pricecurrency", "currency"),
    "availability": ("availability",),
    "condition": ("itemcondition",),
    "sku": ("sku",),
}
_SHARED = ("currency", "availability", "condition", "seller")
_SPECIFICATION = "pricespecification"
_LIST_PRICES = ("list", "strikethrough", "msrp", "srp", "regular")


@dataclass(frozen=True, slots=True)
class Offer:
    """One offer: its parts as found, by registry name, and its line ('' when it names no sku and no seller)."""

    item: Item
    line: str
    parts: dict[str, Text]


def offers_of(product: Item, graph: Graph) -> tuple[Offer, ...]:
    """Return one offer a line: the lowest, where several offers share a line."""
    return _Reader(graph).offers_of(product)


class _Reader:
    """Reads each item of one page once, however often the page refers to it; items are told apart by identity."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._parts_of: dict[int, dict[str, Text]] = {}
        self._offers_at: dict[int, tuple[Offer, ...]] = {}
        self._lines: dict[Text, str] = {}

    def offers_of(self, product: Item) -> tuple[Offer, ...]:
        own = _some(self._stated(product)) or _some(self._referring(product)) or _some(self._of_variants(product))
        shared = self._parts(product)
        if "price" in shared and not any("price" in offer.parts for offer in own):
            own = [replace(offer, parts=shared | offer.parts) for offer in own] or [Offer(product, "", shared)]
        return tuple(_with_shared(offer, shared) for offer in _lowest(own)[:MAX_LINES])

    def _named(self, item: Item, name: str) -> list[Item]:
        """Return the items of a property, each once, references followed."""
        return list({id(found): found for found in map(self._graph.resolve, item.items(name))}.values())

    def _stated(self, item: Item) -> Iterator[Offer]:
        for offer in self._named(item, "offers"):
            yield from self._at(offer)

    def _at(self, offer: Item) -> tuple[Offer, ...]:
        """Return an offer or those within it; its own low and high price only where those state no price."""
        if id(offer) not in self._offers_at:
            inner = _some(self._offer(nested) for nested in self._named(offer, "offers"))
            if any("price" in nested.parts for nested in inner):
                found = tuple(_with_shared(nested, self._parts(offer)) for nested in inner)
            else:
                found = (self._offer(offer),)
            self._offers_at[id(offer)] = found
        return self._offers_at[id(offer)]

    def _referring(self, product: Item) -> Iterator[Offer]:
        """Yield the offers that stand by themselves and name the product as what they offer."""
        for root in self._graph.roots:
            for candidate in (root, *root.items("@graph")):
                if any(self._graph.resolve(item) is product for item in candidate.items("itemoffered")):
                    yield self._offer(candidate)

    def _of_variants(self, product: Item) -> Iterator[Offer]:
        """Yield the offers of a group's variants, on the line of the variant's sku."""
        for variant in self._named(product, "hasvariant"):
            lent = self._parts(variant)
            for offer in self._stated(variant):
                parts = lent | offer.parts
                yield Offer(offer.item, self._line(parts), parts)

    def _offer(self, item: Item) -> Offer:
        parts = self._parts(item)
        return Offer(item, self._line(parts), parts)

    def _parts(self, item: Item) -> dict[str, Text]:
        if id(item) not in self._parts_of:
            self._parts_of[id(item)] = self._read_parts(item)
        return self._parts_of[id(item)]

    def _read_parts(self, item: Item) -> dict[str, Text]:
        parts = {name: text for name, names in _PART_OF.items() if (text := _first(item, names)) is not None}
        for specification in islice(item.items(_SPECIFICATION), MAX_SPECIFICATIONS):
            if not _is_list_price(specification):
                parts = self._parts(specification) | parts
        seller = next((text for value in item.properties.get("seller", ()) if (text := _called(value))), None)
        if seller is not None:
            parts["seller"] = seller
        if "price_high" in parts and "price" in parts and parts["price_high"].raw == parts["price"].raw:
            del parts["price_high"]
        if "currency" not in parts and "price" in parts and find_currency(parts["price"].raw):
            parts["currency"] = parts["price"]
        return parts

    def _line(self, parts: dict[str, Text]) -> str:
        text = parts.get("sku") or parts.get("seller")
        if text is None:
            return ""
        if text not in self._lines:
            self._lines[text] = clean(text.raw)[:LINE_KEPT]
        return self._lines[text]


def _some(offers: Iterator[Offer]) -> list[Offer]:
    return list(islice(offers, MAX_OFFERS))


def _lowest(offers: list[Offer]) -> list[Offer]:
    """Return the first of the lowest offers of each line."""
    lowest: dict[str, tuple[Decimal, Offer]] = {}
    for offer in offers:
        amount = _amount(offer)
        if offer.line not in lowest or amount < lowest[offer.line][0]:
            lowest[offer.line] = amount, offer
    return [offer for _, offer in lowest.values()]


def _with_shared(offer: Offer, shared: dict[str, Text]) -> Offer:
    """Fill what an offer leaves to the product, the aggregate or the variant that it belongs to."""
    lent = {name: text for name, text in shared.items() if name in _SHARED}
    return replace(offer, parts=lent | offer.parts)


def _first(item: Item, names: tuple[str, ...]) -> Text | None:
    return next((text for name in names for text in item.texts(name)), None)


def _called(value: Text | Item) -> Text | None:
    return value if isinstance(value, Text) else next(value.texts("name"), None)


def _is_list_price(specification: Item) -> bool:
    kinds = (text.raw.lower() for text in specification.texts("pricetype"))
    return any(word in kind for kind in kinds for word in _LIST_PRICES)


def _amount(offer: Offer) -> Decimal:
    price = offer.parts.get("price")
    amount = None if price is None else read_amount(price.raw)
    return Decimal("Infinity") if amount is None else amount
