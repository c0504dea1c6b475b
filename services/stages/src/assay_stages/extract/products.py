"""Which item of a graph the page is about: not what it lists, compares, reviews or recommends."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from assay_stages.extract.items import Graph, Item
from assay_stages.extract.page import Page
from assay_stages.normalize.text import folded
from assay_stages.normalize.urls import page_address

MAX_VISITS = 20_000
MAX_PRODUCTS = 200
MAX_HEADING = 500

_PRODUCT_TYPES = frozenset(
    {"product", "individualproduct", "productmodel", "someproducts", "productgroup", "vehicle", "car", "motorcycle"}
)
_ABOUT_OTHERS = frozenset(
    {
        "isrelatedto",
        "issimilarto",
        "isaccessoryorsparepartfor",
        "isconsumablefor",
        "isvariantof",
        "hasvariant",
        "itemreviewed",
        "review",
        "reviews",
        "itemlistelement",
        "recommendation",
        "mentions",
        "makesoffer",
    }
)
_HEADINGS = ("(//title)[1]", "(//h1)[1]", "(//h1)[2]")


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that may be the page's product; `main` if the page names it its main entity."""

    item: Item
    main: bool

    @property
    def typed(self) -> bool:
        return bool(self.item.types & _PRODUCT_TYPES)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a page says that it is about, to compare items with: folded headings and its own addresses."""

    headings: str
    addresses: frozenset[str]


def subject_of(page: Page, url: str | None) -> Subject:
    """Read the title, the h1 and the addresses that a page is known by."""
    if page.document is None:
        return Subject("", frozenset())
    headings = [
        (page.document.text_at(path) or "")[:MAX_HEADING] for path in ("(//title)[1]", "(//h1)[1]", "(//h1)[2]")
    ]
    canonical = page.document.text_at("(//link[@rel='canonical'])[1]/@href")
    addresses = (page_address(address, url) for address in (url, canonical) if address)
    return Subject(folded(" | ".join(headings)), frozenset(address for address in addresses if address))


def choose(graph: Graph, subject: Subject, url: str | None) -> tuple[Item | None, int]:
    """Return the product that a page is about, and how many products it states; None where it is about no one.

    Several products of different names, none of which the page's heading or address names, are a list.
    """
    candidates = list(islice(_candidates(graph), MAX_PRODUCTS))
    typed = [candidate for candidate in candidates if candidate.typed]
    rivals = typed or candidates
    if not rivals:
        return None, 0
    best = max(rivals, key=lambda candidate: _rank(candidate, subject, url))
    several = len({_name(candidate.item) for candidate in rivals if _name(candidate.item)}) > 1
    if several and not (best.main or any(_rank(best, subject, url)[:2])):
        return None, len(rivals)
    return best.item, len(rivals)


def _candidates(graph: Graph) -> Iterator[Candidate]:
    """Walk all items that say what the page is about, each once, in the order of the page."""
    waiting = [Candidate(root, main=False) for root in reversed(graph.roots)]
    seen: set[int] = set()
    while waiting and len(seen) < MAX_VISITS:
        here = waiting.pop()
        item = graph.resolve(here.item)
        if id(item) in seen:
            continue
        seen.add(id(item))
        if item.types & _PRODUCT_TYPES or ("offers" in item.properties and _name(item)):
            yield Candidate(item, here.main)
        below = [
            Candidate(child, main=name == "mainentity")
            for name in item.properties
            if name not in _ABOUT_OTHERS
            for child in item.items(name)
        ]
        waiting.extend(reversed(below))


def _rank(candidate: Candidate, subject: Subject, url: str | None) -> tuple[bool, bool, bool, bool, bool]:
    item = candidate.item
    name = _name(item)
    addresses = (page_address(text.raw, url) for text in item.texts("url"))
    return (
        any(address in subject.addresses for address in addresses),
        bool(name) and name in subject.headings,
        candidate.main,
        "offers" in item.properties,
        bool(name),
    )


def _name(item: Item) -> str:
    return folded(next((text.raw for text in item.texts("name")), ""))
