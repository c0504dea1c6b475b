"""multipart/form-data as a stream of parts: names and bytes in the order of arrival, nothing kept."""

from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from assay_intake.errors import MalformedMultipart, NotMultipart, TooManyParts

MAX_BOUNDARY: Final = 70
"""RFC 2046, section 5.1.1."""
MAX_PART_HEADERS: Final = 8
MAX_PART_HEADER_BYTES: Final = 1024


def boundary_of(content_type: str | None) -> bytes:
    """The boundary that a Content-Type header names."""
    media_type, options = parse_options_header(content_type)
    if media_type != b"multipart/form-data":
        raise NotMultipart
    boundary = options.get(b"boundary", b"")
    if not 1 <= len(boundary) <= MAX_BOUNDARY:
        raise MalformedMultipart("The Content-Type header names no usable boundary.")
    return boundary


@dataclass(frozen=True)
class _Begin:
    name: str


@dataclass(frozen=True)
class _Data:
    data: bytes


class _End:
    """The part is whole."""


@dataclass
class _Headers:
    """The headers of the part that begins, as the parser spells them out."""

    name: bytearray = field(default_factory=bytearray)
    value: bytearray = field(default_factory=bytearray)
    found: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])

    def end_header(self) -> None:
        name = bytes(self.name).lower()
        if name in self.found:
            raise MalformedMultipart("A part repeats a header.")
        self.found[name] = bytes(self.value)
        self.name.clear()
        self.value.clear()

    def part_name(self) -> str:
        disposition, options = parse_options_header(self.found.get(b"content-disposition", b"").decode("latin-1"))
        name = options.get(b"name")
        if disposition != b"form-data" or name is None:
            raise MalformedMultipart("A part has no name.")
        return name.decode("utf-8", "replace")


class PartStream:
    """Walks the parts of one body: `next_part`, then `data`, and again, until `next_part` says None."""

    def __init__(self, chunks: AsyncIterator[bytes], boundary: bytes, max_parts: int) -> None:
        self._chunks = chunks
        self._max_parts = max_parts
        self._parts = 0
        self._events: deque[_Begin | _Data | _End] = deque()
        self._headers = _Headers()
        self._closed = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._on_part_begin,
                "on_header_field": lambda data, start, end: self._headers.name.extend(data[start:end]),
                "on_header_value": lambda data, start, end: self._headers.value.extend(data[start:end]),
                "on_header_end": lambda: self._headers.end_header(),
                "on_headers_finished": lambda: self._events.append(_Begin(self._headers.part_name())),
                "on_part_data": lambda data, start, end: self._events.append(_Data(data[start:end])),
                "on_part_end": lambda: self._events.append(_End()),
                "on_end": self._on_end,
            },
            max_header_count=MAX_PART_HEADERS,
            max_header_size=MAX_PART_HEADER_BYTES,
        )

    async def next_part(self) -> str | None:
        """The name of the next part; None once the closing boundary and the end of the body have come."""
        event = await self._next_event()
        if event is None:
            return None
        if not isinstance(event, _Begin):
            raise RuntimeError("the part before was not read to its end")
        return event.name

    async def data(self) -> AsyncIterator[bytes]:
        """The bytes of the part that `next_part` named."""
        while isinstance(event := await self._next_event(), _Data):
            yield event.data

    async def _next_event(self) -> _Begin | _Data | _End | None:
        while not self._events:
            chunk = await anext(self._chunks, None)
            if chunk is None:
                return self._finish()
            self._feed(chunk)
        return self._events.popleft()

    def _feed(self, chunk: bytes) -> None:
        try:
            self._parser.write(chunk)
        except FormParserError:
            raise MalformedMultipart from None

    def _finish(self) -> None:
        if not self._closed:
            raise MalformedMultipart("The body ended before its closing boundary.")

    def _on_part_begin(self) -> None:
        self._parts += 1
        if self._parts > self._max_parts:
            raise TooManyParts
        self._headers = _Headers()

    def _on_end(self) -> None:
        self._closed = True
