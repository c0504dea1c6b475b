"""The one door to lxml, which ships no types: an HTML tree that can be walked, pathed and asked at a path.

libxml2 cuts a tree at 256 levels by itself. It builds an element's attributes in quadratic time, so that one
tag with 200,000 of them costs a minute: a first pass without a tree refuses a page with such a tag.
"""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Protocol, cast

MAX_ATTRIBUTES = 256


class Element(Protocol):
    """The part of an lxml element that the adapters use."""

    @property
    def tag(self) -> str: ...
    def get(self, key: str) -> str | None: ...
    def iterancestors(self) -> "Iterator[Element]": ...


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

    def select(self, path: str) -> list[Element]:
        """Return the elements, in document order, at a path written in this package."""
        return cast("list[Element]", self._tree.xpath(path))

    def path_of(self, element: Element) -> str:
        """Return the xpath of one element; a tag name with a colon, which xpath reads as a prefix, is quoted."""
        return _ODD_STEP.sub(r"*[name()='\1']", self._tree.getpath(element))

    def text_at(self, path: str) -> str | None:
        """Return the string value at an xpath to an element or attribute; None where that is no such path."""
        try:
            text = self._tree.xpath(f"string({path})")
        except _etree.LxmlError:
            return None
        return str(text)


def parse(text: str) -> Document | None:
    """Parse a page as browsers' HTML; None if there is no element in it or one tag is out of all bounds."""
    data = text.replace("\0", "\ufffd").encode("utf-8", "replace")
    try:
        _etree.parse(io.BytesIO(data), _etree.HTMLParser(encoding="utf-8", target=_Guard()))
        tree = _etree.parse(io.BytesIO(data), _etree.HTMLParser(encoding="utf-8"))
    except (_etree.LxmlError, _TooManyAttributes):
        return None
    return None if tree.getroot() is None else Document(tree)
