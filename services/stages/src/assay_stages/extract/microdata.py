"""Microdata as items, by a walk of our own: a fact needs the xpath of every value, which extruct does not keep."""

from assay_stages.extract.facts import RAW_KEPT
from assay_stages.extract.items import Graph, Item, Text, local_name
from assay_stages.extract.page import Page
from assay_stages.extract.tree import Document, Element, text_of

MAX_ELEMENTS = 1_500
MAX_NAMES = 20
"""Types of one item, or properties that one value is stated as."""

_SOURCES = {"img": "src", "audio": "src", "video": "src", "embed": "src", "iframe": "src", "source": "src"}
_VALUED = {"meter": "value", "data": "value", "object": "data", "time": "datetime"}
_LINKS = frozenset({"a", "area", "link"})
_LINKED = frozenset({"url", "image", "availability", "itemcondition", "sameas", "additionaltype", "item"})
_SILENT = frozenset({"script", "style", "template", "noscript"})


def read(page: Page) -> Graph:
    """Return the graph of a page's microdata; its items are known by itemid."""
    if page.document is None:
        return Graph((), {})
    document = page.document
    items: dict[Element, Item] = {}
    roots: list[Item] = []
    for element in document.select("//*[@itemscope or @itemprop]", MAX_ELEMENTS):
        owner = _owner(element, items)
        value = _item(document, element, items) or _text(document, element)
        names = _names(element, "itemprop")
        if isinstance(value, Item) and (owner is None or not names):
            roots.append(value)
        elif owner is not None and value is not None:
            for name in names:
                owner.properties.setdefault(name, []).append(value)
    return Graph(tuple(roots), {item.identity: item for item in items.values() if item.identity})


def _owner(element: Element, items: dict[Element, Item]) -> Item | None:
    return next((items[above] for above in element.iterancestors() if above in items), None)


def _item(document: Document, element: Element, items: dict[Element, Item]) -> Item | None:
    """Open an item where a scope begins; a scope with a content attribute is also called that (seen for brands)."""
    if element.get("itemscope") is None:
        return None
    path = document.path_of(element)
    item = Item(path, frozenset(_names(element, "itemtype")), element.get("itemid") or "")
    content = element.get("content")
    if content and content.strip():
        item.properties["name"] = [Text(content[:RAW_KEPT], "xpath", f"{path}/@content")]
    items[element] = item
    return item


def _text(document: Document, element: Element) -> Text | None:
    attribute = _attribute(element)
    if attribute is None and element.tag in _SILENT:
        return None
    raw = element.get(attribute) if attribute else text_of(element)
    if raw is None or not raw.strip():
        return None
    path = document.path_of(element)
    return Text(raw[:RAW_KEPT], "xpath", path if attribute is None else f"{path}/@{attribute}")


def _attribute(element: Element) -> str | None:
    """Name the attribute that holds an element's value, None for its text; `content` holds it on any element."""
    if (element.get("content") or "").strip():
        return "content"
    if element.tag in _LINKS:
        return "href" if _LINKED.intersection(_names(element, "itemprop")) and element.get("href") else None
    named = _SOURCES.get(element.tag) or _VALUED.get(element.tag)
    return named if named and element.get(named) else None


def _names(element: Element, attribute: str) -> tuple[str, ...]:
    """Return the folded names that an attribute lists, each once, as HTML reads such a list."""
    listed = (element.get(attribute) or "").split(maxsplit=MAX_NAMES)[:MAX_NAMES]
    return tuple(dict.fromkeys(local_name(name) for name in listed))
