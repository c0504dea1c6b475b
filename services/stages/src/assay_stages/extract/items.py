"""The shape that JSON-LD and microdata share: items with types and properties, each value with its place."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from assay_stages.extract.facts import PlaceSyntax


@dataclass(frozen=True, slots=True)
class Text:
    """One scalar value exactly as found, and where."""

    raw: str
    place_syntax: PlaceSyntax
    place: str


@dataclass(slots=True)
class Item:
    """One item; types and property names are folded to lower case without their vocabulary."""

    node: str
    types: frozenset[str] = frozenset()
    identity: str = ""
    properties: "dict[str, list[Text | Item]]" = field(default_factory=dict)

    def texts(self, name: str) -> Iterator[Text]:
        """Yield the scalars of a property, in the order of the page."""
        return (value for value in self.properties.get(name, ()) if isinstance(value, Text))

    def items(self, name: str) -> "Iterator[Item]":
        """Yield the items of a property, in the order of the page."""
        return (value for value in self.properties.get(name, ()) if isinstance(value, Item))


@dataclass(frozen=True, slots=True)
class Graph:
    """The top items of a page and, by identity, every item that others may refer to."""

    roots: tuple[Item, ...]
    by_identity: Mapping[str, Item]

    def resolve(self, item: Item) -> Item:
        """Follow a bare reference ({"@id": …} and nothing else) to the item that it names, if the page has it."""
        if item.properties or not item.identity:
            return item
        return self.by_identity.get(item.identity, item)


def local_name(name: str) -> str:
    """Fold a type or property: 'http://schema.org/Product', 'schema:Product' and 'product' are one."""
    return name.strip().rstrip("/").rpartition("/")[2].rpartition("#")[2].rpartition(":")[2].lower()
