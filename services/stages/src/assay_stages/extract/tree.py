"""The one door to lxml, which ships no types: an HTML tree that can be walked, pathed and asked at a path.

libxml2 cuts a tree at 256 levels by itself, but two of its ways are quadratic and pages are strangers' work:

- one tag with 200,000 attributes costs a minute, so a first pass without a tree refuses a page with such a tag;
- a path counts an element's siblings anew each time, so that a page has a budget of siblings to count.
"""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from typing import Protocol, cast

MAX_ATTRIBUTES = 256
MAX_SIBLINGS_COUNTED = 5_000_000
MAX_NODES_OF_TEXT = 2_000


class Element(Protocol):
    """The part of an lxml element that the adapters use."""

    @property
    def tag(self) -> str: ...
    def get(self, key: str) -> str | None: ...
    @property
    def text(self) -> str | None: ...
    def __len__(self) -> int: ...
    def iter(self) -> "Iterator[Element]": ...
    def iterancestors(self) -> "Iterator[Element]": ...
    def itertext(self) -> Iterator[str]: ...


class _Tree(Protocol):
    def getroot(self) -> Element | None: ...
    def getpath(self, element: Element) -> str: ...
    def xpath(self, path: str) -> object: ...


class _Etree(Protocol):
    HTMLParser: Callable[..., object]
    parse: "Callable[[io.BytesIO, object], _Tree]"
    LxmlError: type[Exception]


class _TooManyAttributes(Exception):
    """One tag has more attributes than any honest page gives it."""


class _Guard:
    """A parser target that builds nothing and looks at the number of attributes only."""

    def start(self, _tag: str, attributes: Sequence[object]) -> None:
        if len(attributes) > MAX_ATTRIBUTES:
            raise _TooManyAttributes

    def close(self) -> None:
        return None


_etree = cast(_Etree, import_module("lxml.etree"))
_ODD_STEP = re.compile(r"(?<=/)([^/\[]*:[^/\[]*)")


class Document:
    """One parsed page."""

    def __init__(self, tree: _Tree) -> None:
        self._tree = tree
        self._children: dict[Element, int] = {}
        self._siblings_left = MAX_SIBLINGS_COUNTED

    def select(self, path: str, limit: int) -> list[Element]:
        """Return the first elements, in document order, at a path written in this package."""
        return cast("list[Element]", self._tree.xpath(f"({path})[position() <= {limit}]"))

    def path_of(self, element: Element) -> str:
        """Return the xpath of one element, '' once the page's budget of siblings is spent.

        A tag name with a colon, which xpath would read as a prefix, is quoted.
        """
        self._siblings_left -= sum(self._children_of(above) for above in element.iterancestors())
        return "" if self._siblings_left < 0 else _ODD_STEP.sub(r"*[name()='\1']", self._tree.getpath(element))

    def text_at(self, path: str) -> str | None:
        """Return the string value at an xpath to an element or attribute; None where that is no such path."""
        try:
            text = self._tree.xpath(f"string({path})")
        except _etree.LxmlError:
            return None
        return str(text)

    def _children_of(self, element: Element) -> int:
        if element not in self._children:
            self._children[element] = len(element)
        return self._children[element]


def text_of(element: Element) -> str | None:
    """Return an element's string value, as `text_at` its path does; None if it has too many nodes to be one value."""
    if sum(1 for _ in islice(element.iter(), MAX_NODES_OF_TEXT + 1)) > MAX_NODES_OF_TEXT:
        return None
    return "".join(element.itertext())


def parse(text: str) -> Document | None:
    """Parse a page as browsers' HTML; None if there is no element in it or one tag is out of all bounds."""
    data = text.replace("\0", "\ufffd").encode("utf-8", "replace")
    try:
        _etree.parse(io.BytesIO(data), _etree.HTMLParser(encoding="utf-8", target=_Guard()))
        tree = _etree.parse(io.BytesIO(data), _etree.HTMLParser(encoding="utf-8"))
    except (_etree.LxmlError, _TooManyAttributes):
        return None
    return None if tree.getroot() is None else Document(tree)
