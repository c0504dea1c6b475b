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
MAX_LOOKS = 10_000
"""Of one product at offers and variants: references let a small page name the same ones without end."""
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


@dataclass(slots=True)
class _Looks:
    left: int = MAX_LOOKS

    def at(self, item: Item, name: str) -> Iterator[Item]:
        """Yield the items of a property while looks are left."""
        for value in item.items(name):
            if self.left <= 0:
                return
            self.left -= 1
            yield value


def offers_of(product: Item, graph: Graph) -> tuple[Offer, ...]:
    """Return one offer a line: the lowest, where several offers share a line."""
    looks = _Looks()
    own = (
        _some(_stated(product, graph, looks))
        or _some(_referring(product, graph))
        or _some(_of_variants(product, graph, looks))
    )
    shared = _parts(product)
    if "price" in shared and not any("price" in offer.parts for offer in own):
        own = [replace(offer, parts=shared | offer.parts) for offer in own] or [Offer(product, "", shared)]
    lines: dict[str, Offer] = {}
    for offer in own:
        known = lines.get(offer.line)
        if known is None or _amount(offer) < _amount(known):
            lines[offer.line] = offer
    return tuple(_with_shared(offer, shared) for offer in list(lines.values())[:MAX_LINES])


def _some(offers: Iterator[Offer]) -> list[Offer]:
    return list(islice(offers, MAX_OFFERS))


def _stated(item: Item, graph: Graph, looks: _Looks) -> Iterator[Offer]:
    """Yield an item's offers; an aggregate's own low and high price only where its offers state no price."""
    for stated in looks.at(item, "offers"):
        offer = graph.resolve(stated)
        inner = _some(_offer(graph.resolve(nested)) for nested in looks.at(offer, "offers"))
        if any("price" in nested.parts for nested in inner):
            yield from (_with_shared(nested, _parts(offer)) for nested in inner)
        else:
            yield _offer(offer)


def _referring(product: Item, graph: Graph) -> Iterator[Offer]:
    """Yield the offers that stand by themselves and name the product as what they offer."""
    for root in graph.roots:
        for candidate in (root, *root.items("@graph")):
            offered = [graph.resolve(item) for item in candidate.items("itemoffered")]
            if any(item is product for item in offered):
                yield _offer(candidate)


def _of_variants(product: Item, graph: Graph, looks: _Looks) -> Iterator[Offer]:
    """Yield the offers of a group's variants, on the line of the variant's sku."""
    for stated in looks.at(product, "hasvariant"):
        variant = graph.resolve(stated)
        lent = _parts(variant)
        for offer in _stated(variant, graph, looks):
            parts = lent | offer.parts
            yield Offer(offer.item, _line(parts), parts)


def _offer(item: Item) -> Offer:
    parts = _parts(item)
    return Offer(item, _line(parts), parts)


def _with_shared(offer: Offer, shared: dict[str, Text]) -> Offer:
    """Fill what an offer leaves to the product, the aggregate or the variant that it belongs to."""
    lent = {name: text for name, text in shared.items() if name in _SHARED}
    return replace(offer, parts=lent | offer.parts)


def _parts(item: Item) -> dict[str, Text]:
    parts = {name: text for name, names in _PART_OF.items() if (text := _first(item, names)) is not None}
    for specification in islice(item.items(_SPECIFICATION), MAX_SPECIFICATIONS):
        if not any(word in _price_type(specification) for word in _LIST_PRICES):
            parts = _parts(specification) | parts
    seller = next((text for value in item.properties.get("seller", ()) if (text := _called(value))), None)
    if seller is not None:
        parts["seller"] = seller
    if "price_high" in parts and "price" in parts and parts["price_high"].raw == parts["price"].raw:
        del parts["price_high"]
    if "currency" not in parts and "price" in parts and find_currency(parts["price"].raw):
        parts["currency"] = parts["price"]
    return parts


def _first(item: Item, names: tuple[str, ...]) -> Text | None:
    return next((text for name in names for text in item.texts(name)), None)


def _called(value: Text | Item) -> Text | None:
    return value if isinstance(value, Text) else next(value.texts("name"), None)


def _price_type(specification: Item) -> str:
    return " ".join(text.raw.lower() for text in specification.texts("pricetype"))


def _line(parts: dict[str, Text]) -> str:
    text = parts.get("sku") or parts.get("seller")
    return "" if text is None else clean(text.raw)[:LINE_KEPT]


def _amount(offer: Offer) -> Decimal:
    price = offer.parts.get("price")
    amount = None if price is None else read_amount(price.raw)
    return Decimal("Infinity") if amount is None else amount
