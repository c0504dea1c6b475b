"""JSON-LD as items: every object of every script of a page, with the pointer that leads to each value."""

from dataclasses import dataclass, field

from assay_stages.extract.items import Graph, Item, Text, local_name
from assay_stages.extract.page import Json, Page, escape_pointer, json_text

MAX_DEPTH = 24
MAX_ITEMS = 20_000


@dataclass(slots=True)
class _Builder:
    """Builds items until a page has spent its budget; what lies beyond is not read."""

    by_identity: dict[str, Item] = field(default_factory=dict)
    items_left: int = MAX_ITEMS

    def item(self, value: dict[str, Json], node: str, depth: int) -> Item:
        item = Item(node, _types(value.get("@type")), json_text(value.get("@id")) or "")
        for key, content in value.items():
            if key not in ("@type", "@id", "@context"):
                place = f"{node}/{escape_pointer(key)}"
                item.properties.setdefault(local_name(key), []).extend(self.values(content, place, depth + 1))
        if item.identity and item.properties:
            self.by_identity.setdefault(item.identity, item)
        return item

    def values(self, content: Json, place: str, depth: int) -> list[Text | Item]:
        if isinstance(content, list):
            return self._flattened(content, place, depth + 1)
        if isinstance(content, dict):
            if "@value" in content:
                return self.values(content["@value"], f"{place}/@value", depth + 1)
            return [self.item(content, place, depth)] if self._afford(depth) else []
        raw = json_text(content)
        return [] if raw is None or not raw.strip() else [Text(raw, "json_pointer", place)]

    def _flattened(self, content: list[Json], place: str, depth: int) -> list[Text | Item]:
        if depth > MAX_DEPTH:
            return []
        return [found for n, entry in enumerate(content) for found in self.values(entry, f"{place}/{n}", depth)]

    def _afford(self, depth: int) -> bool:
        self.items_left -= 1
        return depth <= MAX_DEPTH and self.items_left >= 0


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
