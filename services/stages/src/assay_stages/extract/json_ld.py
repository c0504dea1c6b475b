"""JSON-LD as items: every object of every script of a page, with the pointer that leads to each value."""

from dataclasses import dataclass, field

from assay_contracts import bounds

from assay_stages.extract.facts import RAW_KEPT
from assay_stages.extract.items import Graph, Item, Text, local_name
from assay_stages.extract.page import Json, Page, escape_pointer, is_storable, json_text

MAX_DEPTH = 24
MAX_VALUES = 50_000
PLACE_OF_ONE_VALUE = 200
"""Characters of a place that one share of the budget pays for; a value at a longer place takes several shares."""

_ABOUT_THE_ITEM = ("@type", "@id", "@context")


@dataclass(slots=True)
class _Builder:
    """Builds items until a page has spent its budget; what lies beyond, or too deep for a place, is not read."""

    by_identity: dict[str, Item] = field(default_factory=dict)
    values_left: int = MAX_VALUES

    def item(self, value: dict[str, Json], node: str, depth: int) -> Item:
        item = Item(node, _types(value.get("@type")), json_text(value.get("@id")) or "")
        for key, content in value.items():
            if key not in _ABOUT_THE_ITEM and self.values_left > 0 and is_storable(key):
                place = f"{node}/{escape_pointer(key)}"
                item.properties.setdefault(local_name(key), []).extend(self.values(content, place, depth + 1))
        if item.identity and item.properties:
            self.by_identity.setdefault(item.identity, item)
        return item

    def values(self, content: Json, place: str, depth: int) -> list[Text | Item]:
        if depth > MAX_DEPTH or self.values_left <= 0 or len(place) > bounds.PLACE:
            return []
        if isinstance(content, list):
            entries = enumerate(content[: self.values_left])
            return [found for n, entry in entries for found in self.values(entry, f"{place}/{n}", depth + 1)]
        self.values_left -= 1 + len(place) // PLACE_OF_ONE_VALUE
        if isinstance(content, dict):
            if "@value" in content:
                return self.values(content["@value"], f"{place}/@value", depth + 1)
            return [self.item(content, place, depth)]
        raw = json_text(content)
        return [] if raw is None or not raw.strip() else [Text(raw[:RAW_KEPT], "json_pointer", place)]


def read(page: Page) -> Graph:
    """Return the graph of all JSON-LD scripts of a page; references hold across scripts."""
    builder = _Builder()
    roots: list[Item] = []
    for index, script in enumerate(page.scripts):
        found = builder.values(script, f"{index}#", 0)
        roots.extend(root for root in found if isinstance(root, Item))
    return Graph(tuple(roots), builder.by_identity)


def _types(stated: Json) -> frozenset[str]:
    named = stated if isinstance(stated, list) else [stated]
    return frozenset(local_name(name) for name in named if isinstance(name, str))
