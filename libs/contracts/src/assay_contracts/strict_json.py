"""Bytes to a JSON document that every reader of it would understand alike, or one reason why not.

A document that loses nothing is known without a look at its single values; only one that does is parsed again, to tell
what is lost and where.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

import orjson

from assay_contracts import bounds, scanning
from assay_contracts.collecting import LARGE_BYTES, uncollected
from assay_contracts.errors import InvalidMessage
from assay_contracts.pointers import spell
from assay_contracts.reasons import BytesReason

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
_Tree: TypeAlias = "_Fault | bool | int | float | str | list[_Tree] | dict[str, _Tree] | None"
_Place: TypeAlias = list[str | int]

_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_INFINITIES: Final = (float("inf"), float("-inf"))
_PLAIN: Final = json.JSONDecoder(parse_constant=lambda _text: object())
"""What it makes of NaN cannot be written again."""

_TEXTS: Final[dict[BytesReason, str]] = {
    "duplicate_key": "a key stands twice in one object",
    "not_finite": "the number is not finite",
    "number_not_exact": "no 64-bit integer and no double holds this number as it is written",
    "lone_surrogate": "half of a surrogate pair stands alone",
    "nul_character": "a string holds U+0000",
}


def parse(data: bytes) -> Json:
    """The document, or InvalidMessage: strict UTF-8, no key twice, numbers and strings that survive, depth 64."""
    if len(data) <= LARGE_BYTES:
        return _parse(data)
    with uncollected():
        return _parse(data)


def _parse(data: bytes) -> Json:
    text = _decode(data)
    bare = scanning.outside_strings(data)
    if scanning.depth(bare) > bounds.DEPTH:
        raise InvalidMessage("too_deep", "", f"more than {bounds.DEPTH} arrays and objects in one another")
    if scanning.has_inexact_number(bare):
        return _parse_slowly(text)
    document: Json = _load(_PLAIN, text)
    return document if _survives(document, data, bare) else _parse_slowly(text)


def _load(decoder: json.JSONDecoder, text: str) -> Any:
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        raise InvalidMessage("not_json", "", f"{error.msg} at character {error.pos}") from None


def _survives(document: Json, data: bytes, bare: bytes) -> bool:
    """Whether the document writes as many keys as it was read from, and strings that are Unicode without U+0000."""
    try:
        written = orjson.dumps(document)
    except orjson.JSONEncodeError:
        return False
    if b":" in bare and scanning.outside_strings(written).count(b":") != bare.count(b":"):
        return False
    return b"\\u" not in data or b"\\u0000" not in written.replace(b"\\\\", b"")


def _parse_slowly(text: str) -> Json:
    """Again, with a look at every value: it is refused for the first fault, or after all there is none."""
    reading = _Reading()
    decoder = json.JSONDecoder(
        object_pairs_hook=reading.read_object,
        parse_int=reading.read_integer,
        parse_float=reading.read_number,
        parse_constant=reading.read_constant,
    )
    document: _Tree = _load(decoder, text)
    if reading.faults:
        _refuse_fault(reading.faults, document)
    if "\\u" in text:
        _check_strings(document)
    return cast("Json", document)


def _decode(data: bytes) -> str:
    if data.startswith(_MARKS):
        raise InvalidMessage("byte_order_mark", "", "the document begins with a byte order mark")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidMessage("not_utf8", "", f"no UTF-8 at byte {error.start}") from None


@dataclass(frozen=True)
class _Fault:
    """Stands in the document where something must be refused, until its place is known."""

    reason: BytesReason
    key: str | None = None


@dataclass
class _Reading:
    """What one document's parse met that is to be refused."""

    faults: list[_Fault] = field(default_factory=list["_Fault"])

    def read_object(self, pairs: list[tuple[str, _Tree]]) -> _Tree:
        document = dict(pairs)
        if len(document) == len(pairs):
            return document
        seen: set[str] = set()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))
        return self._note(_Fault("duplicate_key", repeated))

    def read_integer(self, text: str) -> int | _Fault:
        return int(text) if scanning.is_exact_integer(text) else self._note(_Fault("number_not_exact"))

    def read_number(self, text: str) -> float | _Fault:
        number = float(text)
        if number in _INFINITIES:
            return self._note(_Fault("not_finite"))
        return number if scanning.is_exact_number(text) else self._note(_Fault("number_not_exact"))

    def read_constant(self, _text: str) -> _Fault:
        return self._note(_Fault("not_finite"))

    def _note(self, fault: _Fault) -> _Fault:
        self.faults.append(fault)
        return fault


def _refuse_fault(faults: list[_Fault], document: _Tree) -> None:
    for place, value in _walk(document):
        if isinstance(value, _Fault):
            place = place if value.key is None else [*place, value.key]
            raise InvalidMessage(value.reason, spell(tuple(place)), _TEXTS[value.reason])
    raise InvalidMessage(faults[0].reason, "", _TEXTS[faults[0].reason])


def _check_strings(document: _Tree) -> None:
    for place, value in _walk(document):
        if isinstance(value, str):
            _check_string(value, place)
        elif isinstance(value, dict):
            for key in value:
                _check_string(key, place)


def _check_string(string: str, place: _Place) -> None:
    reason: BytesReason | None = "nul_character" if "\0" in string else None
    if _SURROGATE.search(string):
        reason = "lone_surrogate"
    if reason is not None:
        raise InvalidMessage(reason, spell(tuple(place)), _TEXTS[reason])


def _walk(document: _Tree) -> Iterator[tuple[_Place, _Tree]]:
    """Every value in the order of the document, with its place, which the next step changes."""
    place: _Place = []
    yield place, document
    waiting = [_items(document)]
    while waiting:
        for key, value in waiting[-1]:
            place.append(key)
            yield place, value
            if isinstance(value, dict | list):
                waiting.append(_items(value))
                break
            place.pop()
        else:
            waiting.pop()
            del place[-1:]


def _items(value: _Tree) -> Iterator[tuple[str | int, _Tree]]:
    if isinstance(value, dict):
        return iter(value.items())
    return iter(enumerate(value) if isinstance(value, list) else ())
