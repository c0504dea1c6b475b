"""One artifact opened once for reading: its text, its HTML tree, its JSON-LD scripts, and what stands at a place."""

import html
import json
import re
from functools import cached_property
from typing import cast

from w3lib.encoding import html_body_declared_encoding, html_to_unicode, http_content_type_encoding

from assay_stages.extract import tree
from assay_stages.extract.facts import PlaceSyntax

MAX_PAGE_BYTES = 5 * 1024 * 1024
MAX_SCRIPTS = 100

Json = dict[str, "Json"] | list["Json"] | str | bool | None
"""A JSON value whose numbers are kept as the text that the page wrote."""

_HTML_TYPES = frozenset({"", "text/html", "application/xhtml+xml", "text/plain", "application/octet-stream"})
_OF_PYTHON_ONLY = frozenset({"unicode-escape", "raw-unicode-escape", "punycode", "idna", "undefined"})
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")
_WRAPPING = re.compile(r"\A\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)?\s*")
_LD_SCRIPTS = "//script[contains(translate(@type, 'JSONLD', 'jsonld'), 'ld+json')]"
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, strict=False)


class Page:
    """An HTML artifact; `document` is None when it is not HTML that can be read within bounds."""

    def __init__(self, data: bytes, media_type: str) -> None:
        self._data = data
        self._media_type = media_type

    @cached_property
    def document(self) -> tree.Document | None:
        if len(self._data) > MAX_PAGE_BYTES or _is_binary(self._data, self._media_type):
            return None
        return tree.parse(_decoded(self._data, self._media_type))

    @cached_property
    def scripts(self) -> tuple[Json, ...]:
        """The JSON-LD scripts in document order, None for each that is not JSON."""
        if self.document is None:
            return ()
        return tuple(read_json(script.text or "") for script in self.document.select(_LD_SCRIPTS, MAX_SCRIPTS))

    def text_at(self, place_syntax: PlaceSyntax, place: str) -> str | None:
        """Return exactly what stands at a place, None if nothing does."""
        if self.document is None:
            return None
        if place_syntax == "xpath":
            return self.document.text_at(place)
        script, _, pointer = place.partition("#")
        if not script.isdecimal() or int(script) >= len(self.scripts):
            return None
        return json_text(_at_pointer(self.scripts[int(script)], pointer))


def is_html(media_type: str) -> bool:
    """Tell whether an artifact of this media type is a page at all; one without a type may be."""
    return media_type.partition(";")[0].strip().lower() in _HTML_TYPES


def read_json(text: str) -> Json:
    """Read the first JSON value of a script, whatever wraps or follows it; None if there is none."""
    for candidate in (text, html.unescape(text)):
        opened = _WRAPPING.match(candidate)
        try:
            return cast(Json, _DECODER.raw_decode(candidate, opened.end() if opened else 0)[0])
        except (ValueError, RecursionError):
            continue
    return None


def json_text(value: Json) -> str | None:
    """Return a scalar as the text that the page wrote; None for objects, lists and null.

    What no database and no UTF-8 can hold, NUL and halves of surrogate pairs, is U+FFFD here and at every place.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return _UNSTORABLE.sub("\ufffd", value) if isinstance(value, str) else None


def is_storable(text: str) -> bool:
    """Tell whether a text can be part of a place."""
    return _UNSTORABLE.search(text) is None


def escape_pointer(key: str) -> str:
    """Write a property name as one JSON pointer token (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def _decoded(data: bytes, media_type: str) -> str:
    """Decode as browsers do: byte order mark, media type, meta tag, else UTF-8; so too if no text has that encoding."""
    declared = http_content_type_encoding(media_type) or html_body_declared_encoding(data)
    if declared in _OF_PYTHON_ONLY:
        return data.decode(errors="replace")
    try:
        return html_to_unicode(media_type, data)[1]
    except LookupError:  # Python also lists rot13 and zip as encodings
        return data.decode(errors="replace")


def _at_pointer(value: Json, pointer: str) -> Json:
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def _is_binary(data: bytes, media_type: str) -> bool:
    """Tell bytes that no text encoding but UTF-16 writes; UTF-16 pages say so in a BOM or their media type."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or "utf-16" in media_type.lower():
        return False
    return len(_BINARY.findall(data[:4096])) > len(data[:4096]) // 100
