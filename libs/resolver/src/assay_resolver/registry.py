"""The attributes that a catalog can hold: names outside this list stay facts until they are registered."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

VERSION: Final = 1

Scope = Literal["item", "listing"]
ValueType = Literal["text", "code", "number", "url", "offer"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """many: the union of all statements, as a list. guarded: an automatic rule never adds a second value."""

    name: str
    scope: Scope
    type: ValueType
    many: bool = False
    guarded: bool = False
    unit: str | None = None


def _listed(*attributes: Attribute) -> Mapping[str, Attribute]:
    return MappingProxyType({attribute.name: attribute for attribute in attributes})


ITEM: Final = _listed(
    Attribute("name", "item", "text"),
    Attribute("brand", "item", "text"),
    Attribute("mpn", "item", "code"),
    Attribute("description", "item", "text"),
    Attribute("color", "item", "text"),
    Attribute("size", "item", "text"),
    Attribute("material", "item", "text"),
    Attribute("weight", "item", "number", unit="g"),
    Attribute("gtin", "item", "code", many=True, guarded=True),
    Attribute("image", "item", "url", many=True),
    Attribute("category", "item", "text", many=True),
)

LISTING: Final = _listed(
    Attribute("offer", "listing", "offer"),
    Attribute("sku", "listing", "code"),
    Attribute("url", "listing", "url"),
)

OFFER_PARTS: Final = frozenset(
    {"price", "price_high", "currency", "availability", "condition", "seller", "label", "valid_until"}
)
"""Facts that make an offer of their line; its sku comes from the listing's sku fact of that line."""
