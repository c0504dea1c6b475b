"""Bytes to a JSON document that every reader of it would understand alike, or one reason why not."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, TypeAlias, cast

from assay_contracts import bounds
from assay_contracts.errors import InvalidMessage
from assay_contracts.pointers import Path, spell
from assay_contracts.reasons import BytesReason

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
_Tree: TypeAlias = "_Fault | bool | int | float | str | list[_Tree] | dict[str, _Tree] | None"

_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_STRING_OR_BRACKET: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NONZERO: Final = re.compile(r"[1-9]")
_INTEGER_CHARACTERS: Final = 20
_NUMBER_CHARACTERS: Final = 64

_TEXTS: Final[dict[BytesReason, str]] = {
    "duplicate_key": "a key stands twice in one object",
    "not_finite": "the number is not finite",
    "number_not_exact": "no 64-bit integer and no double holds this number as it is written",
    "lone_surrogate": "half of a surrogate pair stands alone",
    "nul_character": "a string holds U+0000",
}


def parse(data: bytes) -> Json:
    """The document, or InvalidMessage: strict UTF-8, no key twice, numbers and strings that survive, depth 64."""
    text = _decode(data)
    _check_depth(data)
    reading = _Reading()
    decoder = json.JSONDecoder(
        object_pairs_hook=reading.read_object,
        parse_int=reading.read_integer,
        parse_float=reading.read_number,
        parse_constant=reading.read_constant,
    )
    try:
        document: _Tree = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise InvalidMessage("not_json", "", f"{error.msg} at character {error.pos}") from None
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


def _check_depth(data: bytes) -> None:
    if data.count(b"[") + data.count(b"{") <= bounds.DEPTH:
        return
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(data):
        first = token.group()[:1]
        if first in b"[{":
            depth += 1
            if depth > bounds.DEPTH:
                raise InvalidMessage("too_deep", "", f"more than {bounds.DEPTH} arrays and objects in one another")
        elif first in b"]}":
            depth -= 1


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
        if len(text) <= _INTEGER_CHARACTERS and -(2**63) <= (number := int(text)) < 2**64:
            return number
        return self._note(_Fault("number_not_exact"))

    def read_number(self, text: str) -> float | _Fault:
        number = float(text)
        if number in (float("inf"), float("-inf")):
            return self._note(_Fault("not_finite"))
        if len(text) > _NUMBER_CHARACTERS or not _is_exact(text, number):
            return self._note(_Fault("number_not_exact"))
        return number

    def read_constant(self, _text: str) -> _Fault:
        return self._note(_Fault("not_finite"))

    def _note(self, fault: _Fault) -> _Fault:
        self.faults.append(fault)
        return fault


def _is_exact(text: str, number: float) -> bool:
    if number == 0:
        return not _NONZERO.search(re.split("[eE]", text)[0])
    return Decimal(text) == Decimal(repr(number))


def _refuse_fault(faults: list[_Fault], document: _Tree) -> None:
    for path, value in _walk(document, ()):
        if isinstance(value, _Fault):
            place = path if value.key is None else (*path, value.key)
            raise InvalidMessage(value.reason, spell(place), _TEXTS[value.reason])
    raise InvalidMessage(faults[0].reason, "", _TEXTS[faults[0].reason])


def _check_strings(document: _Tree) -> None:
    for path, value in _walk(document, ()):
        if isinstance(value, str):
            _check_string(value, path)
        elif isinstance(value, dict):
            for key in value:
                _check_string(key, path)


def _check_string(string: str, path: Path) -> None:
    reason: BytesReason | None = "nul_character" if "\0" in string else None
    if _SURROGATE.search(string):
        reason = "lone_surrogate"
    if reason is not None:
        raise InvalidMessage(reason, spell(path), _TEXTS[reason])


def _walk(value: _Tree, path: Path) -> Iterator[tuple[Path, _Tree]]:
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _walk(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _walk(inner, (*path, index))
