"""The quickest yes: bytes written exactly as our encoders write a message, told by one pattern made of its schema.

Every document of the pattern is one that the schema takes, for the pattern says less than the schema: each field in its
place, no whitespace, no escape, printable ASCII, integers of few digits. So nothing is left to ask: no key stands
twice, no number or string is lost, nothing is deep. What the pattern does not know is decided elsewhere.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from assay_contracts.fast import FORMATS

Layout: TypeAlias = Callable[[bytes], object]
"""Anything but None for bytes that surely are the message."""
Composition: TypeAlias = tuple[str, tuple[str, ...]]
"""A field whose text is that of other fields behind it, joined by colons."""

_SAFE: Final = frozenset(range(0x20, 0x7F)) - frozenset(b'"\\')
_ANNOTATIONS: Final = {"$schema", "$id", "$defs", "title", "description"}
_WORDS: Final = _ANNOTATIONS | {
    *("type", "const", "enum", "properties", "required", "additionalProperties", "minProperties", "items"),
    *("minItems", "maxItems", "minLength", "maxLength", "pattern", "format", "minimum", "maximum"),
}
_CHARACTER: Final = r"\\x[0-9a-fA-F]{2}|\\[^0-9A-Za-z]|[^\\]"
_MEMBER: Final = re.compile(rf"({_CHARACTER})(?:-({_CHARACTER}))?", re.DOTALL)
_TOKEN: Final = re.compile(
    r"(?P<syntax>\(\?:|[()|+*?]|\{[0-9]+(?:,[0-9]*)?\})"
    r"|\[(?P<negated>\^?)(?P<members>(?:\\.|[^\]\\])+)\]"
    rf"|(?P<literal>(?![\[\]{{}}^$.])(?:{_CHARACTER}))",
    re.DOTALL,
)
_DIGITS: Final = 18


class NotLaidOut(Exception):
    """A schema says something of which no such pattern is made."""


def layout(
    schema: dict[str, Any], payload: dict[str, Any] | None = None, composition: Composition | None = None
) -> Layout:
    """What knows documents of a schema, whose field `payload` has a schema of its own, if one is given.

    A composition is one of the payload's, or of the document where there is no payload, and is looked at too.
    """
    return re.compile(layout_pattern(schema, payload, composition).encode("ascii")).fullmatch


def layout_pattern(
    schema: dict[str, Any], payload: dict[str, Any] | None = None, composition: Composition | None = None
) -> str:
    """The pattern itself, in Python's syntax."""
    if payload is None:
        return _Writer(schema, composition).write(schema)
    if payload.get("type") != "object" or not payload.get("required"):
        raise NotLaidOut("a payload that may be no object, or an empty one")
    return _Writer(schema, None, {"payload": _Writer(payload, composition).write(payload)}).write(schema)


class _Writer:
    """Writes the pattern of one schema file, whose definitions it resolves."""

    def __init__(
        self, root: dict[str, Any], composition: Composition | None, written: Mapping[str, str] | None = None
    ) -> None:
        self._root, self._composition, self._written = root, composition, written or {}
        self._open: list[str] = []

    def write(self, schema: dict[str, Any] | bool) -> str:
        """What stands for a value of this schema."""
        if isinstance(schema, bool):
            raise NotLaidOut("any value")
        if "$ref" in schema:
            return self._write_reference(schema)
        if unknown := schema.keys() - _WORDS:
            raise NotLaidOut(f"{sorted(unknown)} in a schema")
        if "const" in schema or "enum" in schema:
            return _any_of(_constants(schema))
        return _any_of(self._write_kind(kind, schema) for kind in _types(schema))

    def _write_reference(self, schema: dict[str, Any]) -> str:
        name = str(schema["$ref"]).removeprefix("#/$defs/")
        if name in self._open or name not in self._root.get("$defs", {}) or schema.keys() - _ANNOTATIONS - {"$ref"}:
            raise NotLaidOut(f"a reference to {name}")
        self._open.append(name)
        pattern = self.write(self._root["$defs"][name])
        self._open.pop()
        return pattern

    def _write_kind(self, kind: str, schema: dict[str, Any]) -> str:
        match kind:
            case "null":
                return "null"
            case "boolean":
                return "(?:true|false)"
            case "integer":
                return _integer(schema)
            case "string":
                return f'"{_ahead(_limits(schema)[:-1])}{_limits(schema)[-1]}"'
            case "array":
                return self._write_array(schema)
            case "object":
                return self._write_object(schema)
            case _:
                raise NotLaidOut(f"a {kind} has more than one spelling")

    def _write_array(self, schema: dict[str, Any]) -> str:
        item, least, most = self.write(schema.get("items", True)), schema.get("minItems", 0), schema.get("maxItems")
        if most == 0:
            raise NotLaidOut("an array that is always empty")
        some = rf"\[{item}(?:,{item}){{{max(least - 1, 0)},{most - 1 if most else ''}}}\]"
        return some if least else _any_of([some, r"\[\]"])

    def _write_object(self, schema: dict[str, Any]) -> str:
        properties: dict[str, Any] = schema.get("properties", {})
        required = set(schema.get("required", ()))
        if not properties or required - properties.keys() or schema.get("minProperties", 0) > len(required):
            raise NotLaidOut("an object with fields of any name")
        written = {**self._written, **(self._compose(properties) if schema is self._root else {})}
        fields = [
            (f'"{_literal(name)}":{written.get(name) or self.write(inner)}', name in required)
            for name, inner in properties.items()
            if inner is not False
        ]
        return rf"\{{{_in_order(fields)}\}}"

    def _compose(self, properties: dict[str, Any]) -> dict[str, str]:
        """The pattern of the composed field, which names its parts, and those of the parts, which refer to them."""
        if self._composition is None:
            return {}
        whole, parts = self._composition
        if list(properties).index(whole) > min(list(properties).index(part) for part in parts):
            raise NotLaidOut("a field that is composed of those before it")
        spelled = {part: self.write(properties[part]) for part in parts}
        texts = [f"(?P<{part}>{_unquoted(pattern)})" for part, pattern in spelled.items()]
        own = _ahead(_limits(properties[whole]))
        references = {part: f'"(?P={part})"' if '"' in spelled[part] else f"(?P={part})" for part in parts}
        return {whole: f'"{own}{":".join(texts)}"', **references}


def _in_order(fields: list[tuple[str, bool]]) -> str:
    """Fields with commas between them; each with whether it is always there."""
    first = next((n for n, (_, always) in enumerate(fields) if always), len(fields))
    behind = [*("" for _ in fields), ""]
    for n, (field, always) in reversed(list(enumerate(fields))):
        behind[n] = (f",{field}" if always else f"(?:,{field})?") + behind[n + 1]
    if first < len(fields):
        return "".join(f"(?:{field},)?" for field, _ in fields[:first]) + behind[first][1:]
    return _any_of([*(field + behind[n + 1] for n, (field, _) in enumerate(fields)), ""])


def _types(schema: dict[str, Any]) -> list[str]:
    types = schema.get("type", [])
    if not types:
        raise NotLaidOut("a value of any type")
    return [types] if isinstance(types, str) else types


def _constants(schema: dict[str, Any]) -> list[str]:
    values: list[Any] = [schema["const"]] if "const" in schema else schema["enum"]
    more = schema.keys() - _ANNOTATIONS - {"const", "enum"}
    if more == {"type"} and schema["type"] == "integer" and all(type(value) is int for value in values):
        return [str(value) for value in values]
    if more or not all(isinstance(value, str) for value in values):
        raise NotLaidOut("a constant that is no text")
    return [f'"{_literal(value)}"' for value in values]


def _literal(text: str) -> str:
    if not _SAFE.issuperset(text.encode()):
        raise NotLaidOut("a text that would be escaped")
    return re.escape(text)


def _integer(schema: dict[str, Any]) -> str:
    """As many digits as surely are within the bounds."""
    least, most = schema.get("minimum"), schema.get("maximum", 10**_DIGITS)
    digits = min(len(str(most + 1)) - 1, _DIGITS)
    if least not in (None, 0, 1) or digits < 1:
        raise NotLaidOut(f"an integer from {least} to {most}")
    counted = rf"[1-9][0-9]{{0,{digits - 1}}}"
    return counted if least == 1 else _any_of(["0", counted])


def _limits(schema: dict[str, Any]) -> list[str]:
    """Patterns of the text between the quotes, all of which hold."""
    limits: list[str] = []
    if "minLength" in schema or "maxLength" in schema:
        limits.append(f"{_set(_SAFE)}{{{schema.get('minLength', 0)},{schema.get('maxLength', '')}}}")
    if "pattern" in schema:
        limits.append(_plain(schema["pattern"]))
    if "format" in schema:
        if schema["format"] not in FORMATS:
            raise NotLaidOut(f"format {schema['format']}")
        limits.append(_plain(FORMATS[schema["format"]]))
    return limits or [f"{_set(_SAFE)}*"]


def _ahead(limits: Iterable[str]) -> str:
    """None of the patterns goes past a quote, so that each is about the very text up to the first one."""
    return "".join(f'(?={limit}")' for limit in limits)


def _plain(pattern: str) -> str:
    """A schema's pattern without its anchors and without every character that a string would have to escape."""
    if not pattern.startswith("^"):
        raise NotLaidOut("a pattern that begins anywhere")
    body, ends = pattern[1:].removesuffix("$"), pattern.endswith("$")
    written, at, depth = "", 0, 0
    while at < len(body):
        token = _TOKEN.match(body, at)
        if token is None or (token[0] == "|" and depth == 0) or (token[0] == "(" and body.startswith("(?", at)):
            raise NotLaidOut(f"a pattern with {body[at:]}")
        depth += {"(": 1, ")": -1}.get(token[0][:1], 0)
        written += _token(token)
        at = token.end()
    return f"(?:{written})" if ends else f"(?:{written}){_set(_SAFE)}*"


def _token(token: re.Match[str]) -> str:
    if token["syntax"]:
        return "(?:" if token["syntax"] == "(" else token["syntax"]
    if token["literal"]:
        return _set(_SAFE & {_code(token["literal"])})
    members = list(_MEMBER.finditer(token["members"]))
    if "".join(one[0] for one in members) != token["members"]:
        raise NotLaidOut(f"a pattern with {token[0]}")
    named = {code for one in members for code in range(_code(one[1]), _code(one[2] or one[1]) + 1)}
    return _set(_SAFE - named if token["negated"] else _SAFE & named)


def _code(character: str) -> int:
    return int(character[2:], 16) if character.startswith("\\x") else ord(character[-1])


def _set(codes: frozenset[int] | set[int]) -> str:
    """A character of these."""
    if not codes:
        raise NotLaidOut("a character that would be escaped")
    if len(codes) == 1:
        return re.escape(chr(*codes))
    starts = [code for code in sorted(codes) if code - 1 not in codes]
    ends = [code for code in sorted(codes) if code + 1 not in codes]
    ranges = [rf"\x{start:02x}-\x{end:02x}" for start, end in zip(starts, ends, strict=True)]
    return f"[{''.join(ranges)}]"


def _unquoted(pattern: str) -> str:
    """The text of a string without its quotes; of several constants, of any of them."""
    if "(?=" in pattern:
        raise NotLaidOut("a part of which several patterns are asked")
    return pattern.replace('"', "")


def _any_of(patterns: Iterable[str]) -> str:
    alternatives = list(patterns)
    return alternatives[0] if len(alternatives) == 1 else f"(?:{'|'.join(alternatives)})"
