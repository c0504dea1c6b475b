"""From one product item to raw facts, under the names of the registry."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from assay_stages.extract.facts import RAW_KEPT, RawFact
from assay_stages.extract.items import Graph, Item, Text
from assay_stages.extract.offers import Offer, offers_of

MAX_IMAGES = 20

_SINGLE = ("name", "description", "category", "color", "size", "material", "weight", "url", "sku")
_GTIN = ("gtin", "gtin8", "gtin12", "gtin13", "gtin14", "ean", "ean13", "upc", "isbn", "isbn13")
_GTIN_ID = re.compile(r"\A\s*(?:gtin(?:8|12|13|14)?|ean(?:13)?|upc|isbn(?:10|13)?)\s*:", re.IGNORECASE)
_MODEL_CODE = re.compile(r"\A(?=\S*\d)\S{4,40}\Z")
_OFFER_PARTS = ("price", "price_high", "currency", "availability", "condition", "seller", "sku")


def facts_of(product: Item, graph: Graph) -> Iterator[RawFact]:
    """Yield what an item states about itself, then its offers, each name once unless it may have many."""
    offers = offers_of(product, graph)
    for name, text in _statements(product, offers):
        yield _fact(product, name, "", text)
    for offer in offers:
        for name in _OFFER_PARTS:
            text = offer.parts.get(name)
            if text is not None and (name != "sku" or offer.line):
                yield _fact(product, name, offer.line, text)


def _statements(product: Item, offers: tuple[Offer, ...]) -> Iterator[tuple[str, Text]]:
    for name in _SINGLE:
        text = _heading(product) if name == "name" else named(product, name)
        if text is None and name == "sku" and len(offers) == 1:
            text = offers[0].parts.get("sku")
        if text is not None:
            yield name, text
    yield from (("brand", text) for text in islice(_brands(product), 1))
    yield from (("gtin", text) for text in _gtins(product, offers))
    yield from (("mpn", text) for text in islice(_part_numbers(product), 1))
    yield from (("image", text) for text in islice(_images(product), MAX_IMAGES))


def named(item: Item, name: str) -> Text | None:
    """Return a property's first scalar, else the name of its first item."""
    for value in item.properties.get(name, ()):
        text = value if isinstance(value, Text) else next(value.texts("name"), None)
        if text is not None:
            return text
    return None


def _heading(product: Item) -> Text | None:
    """Prefer the name that stands in a heading: lists of related products repeat the property (seen in the wild)."""
    texts = list(product.texts("name"))
    return next((text for text in texts if "/h1" in text.place), texts[0] if texts else None)


def _brands(product: Item) -> Iterator[Text]:
    return (text for name in ("brand", "manufacturer") if (text := named(product, name)) is not None)


def _gtins(product: Item, offers: tuple[Offer, ...]) -> Iterator[Text]:
    """Yield the product's own numbers, else those of its only offer: an offer's number is that of one variant."""
    own = list(_gtin_texts(product))
    if not own and len(offers) == 1:
        own = list(_gtin_texts(offers[0].item))
    return iter(own)


def _gtin_texts(item: Item) -> Iterator[Text]:
    for name in _GTIN:
        yield from item.texts(name)
    yield from (text for text in item.texts("productid") if _GTIN_ID.match(text.raw))


def _part_numbers(product: Item) -> Iterator[Text]:
    """Yield the mpn, else a model that is a code: one word with a digit."""
    yield from product.texts("mpn")
    yield from (text for text in product.texts("model") if _MODEL_CODE.match(text.raw.strip()))


def _images(product: Item) -> Iterator[Text]:
    yield from product.texts("image")
    for image in product.items("image"):
        yield from islice(_first_texts(image, ("contenturl", "url")), 1)


def _first_texts(item: Item, names: Iterable[str]) -> Iterator[Text]:
    return (text for name in names for text in item.texts(name))


def _fact(product: Item, name: str, line: str, text: Text) -> RawFact:
    return RawFact(product.node, name, line, text.raw[:RAW_KEPT], text.place_syntax, text.place)
