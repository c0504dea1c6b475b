"""Adapter pa_opengraph: the product that a page's meta tags state, for social networks and price comparers."""

from collections.abc import Iterator, Mapping

from assay_stages.extract.facts import BROKEN, NOTHING, RAW_KEPT, Found, RawFact, bounded
from assay_stages.extract.page import Page, is_html
from assay_stages.extract.tree import Document, Element
from assay_stages.normalize.currencies import find_currency

NODE = "opengraph"
MAX_METAS = 1_000
MAX_IMAGES = 20

_PRICES = ("product:sale_price:amount", "product:price:amount", "og:price:amount", "og:price", "product:price")
_CURRENCIES = (
    "product:sale_price:currency",
    "product:price:currency",
    "og:price:currency",
    "og:currency",
)
_NAMES: Mapping[str, tuple[str, ...]] = {
    "name": ("og:title",),
    "description": ("og:description",),
    "url": ("og:url",),
    "brand": ("product:brand", "og:brand"),
    "sku": ("product:retailer_item_id", "product:sku"),
    "mpn": ("product:mfr_part_no",),
    "gtin": ("product:gtin", "product:ean", "product:upc", "product:isbn", "og:upc", "og:isbn"),
    "category": ("product:category",),
    "color": ("product:color",),
    "size": ("product:size",),
    "material": ("product:material",),
    "price": _PRICES,
    "currency": _CURRENCIES,
    "availability": ("product:availability", "og:availability"),
    "condition": ("product:condition", "og:condition"),
}
_SAYS_PRODUCT = frozenset((*_PRICES, "product:retailer_item_id", "product:availability", "product:brand"))


def read(page: bytes, media_type: str, url: str | None) -> Found:
    """Read one page; nothing unless its type or a price tag says that it is about a product."""
    del url
    if not is_html(media_type):
        return NOTHING
    document = Page(page, media_type).document
    if document is None:
        return BROKEN
    metas = _metas(document)
    if "product" not in _content(metas, "og:type") and not _SAYS_PRODUCT & metas.keys():
        return NOTHING
    facts = bounded(_facts(document, metas))
    return Found("ok" if facts else "nothing", facts, 1)


def _metas(document: Document) -> dict[str, list[Element]]:
    """Return the meta tags with content, by property in lower case, in the order of the page."""
    metas: dict[str, list[Element]] = {}
    for element in document.select("//meta[@content and (@property or @name)]", MAX_METAS):
        if (element.get("content") or "").strip():
            metas.setdefault((element.get("property") or element.get("name") or "").strip().lower(), []).append(element)
    return metas


def _content(metas: dict[str, list[Element]], name: str) -> str:
    return next(((element.get("content") or "").lower() for element in metas.get(name, ())), "")


def _facts(document: Document, metas: dict[str, list[Element]]) -> Iterator[RawFact]:
    for name, properties in _NAMES.items():
        stated = [element for stated_as in properties for element in metas.get(stated_as, ())]
        for element in stated[: None if name == "gtin" else 1]:
            yield _fact(document, name, element)
            if name == "price" and not any(metas.get(currency) for currency in _CURRENCIES):
                yield from _currency_within(document, element)
    for element in metas.get("og:image", [])[:MAX_IMAGES]:
        yield _fact(document, "image", element)


def _currency_within(document: Document, price: Element) -> Iterator[RawFact]:
    if find_currency(price.get("content") or ""):
        yield _fact(document, "currency", price)


def _fact(document: Document, name: str, element: Element) -> RawFact:
    raw = (element.get("content") or "")[:RAW_KEPT]
    return RawFact(NODE, name, "", raw, "xpath", f"{document.path_of(element)}/@content")
