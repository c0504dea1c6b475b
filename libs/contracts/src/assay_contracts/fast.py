"""The quick yes: bytes that are surely strict JSON, and documents that their schema surely takes.

Nothing here refuses. What is not surely right is asked of `strict_json` and `schema`, whose word is the verdict, so
the two paths cannot differ unless something here says yes where those say no.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias, cast

import jsonschema_rs
import orjson

from assay_contracts import bounds

Accepts: TypeAlias = Callable[[object], bool]
"""Whether a document that `parse` returned is surely what a schema asks for."""

_Container: TypeAlias = dict[str, Any] | list[Any]

_WORDS: Final = {
    *("$schema", "$id", "$ref", "$defs", "title", "description", "type", "const", "enum"),
    *("properties", "required", "additionalProperties", "minProperties", "items", "minItems", "maxItems"),
    *("uniqueItems", "minLength", "maxLength", "pattern", "format", "minimum", "maximum"),
    *("allOf", "if", "then", "else", "not"),
}
_CONDITIONS: Final = frozenset({"if", "not"})
_HOUR: Final = "([01][0-9]|2[0-3])"
_LEAP: Final = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
_YEAR: Final = "([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_DAY: Final = (
    f"({_YEAR}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|{_LEAP}-02-29)"
)
FORMATS: Final = {
    "date": f"^{_DAY}$",
    "date-time": rf"^{_DAY}T{_HOUR}:[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[+-]{_HOUR}:[0-5][0-9])$",
}
"""The formats as patterns: Gregorian days from year 1 on, no hour 24, no second 60, offsets below a day."""


class NotQuick(Exception):
    """A schema says something of which the quick judge is not known to give the verdict of `jsonschema`."""


def parse(data: bytes) -> dict[str, Any] | None:
    """The object, if writing it anew gives the same bytes; None otherwise, which decides nothing.

    Equal bytes prove that no key was lost to a twin and that every number survives. Left to look for: U+0000, depth,
    and an integer that is written with a fraction.
    """
    try:
        document: Any = orjson.loads(data)
        if orjson.dumps(document) != data or b"\\u0000" in data:
            return None
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None
    if type(document) is not dict or (_may_be_odd(data) and not _is_plain(cast("dict[str, Any]", document))):
        return None
    return cast("dict[str, Any]", document)


def validator(*schemas: dict[str, Any]) -> Accepts:
    """Whether a document is surely what the first schema asks for, and its payload what the second does, if given."""
    whole, *payload = [_quick(schema, negated=False) for schema in schemas]
    if payload:
        properties = whole["properties"]
        whole = {**whole, "properties": {**properties, "payload": {"allOf": [properties["payload"], *payload]}}}
    return jsonschema_rs.Draft202012Validator(
        whole, validate_formats=False, pattern_options=jsonschema_rs.RegexOptions()
    ).is_valid


def _may_be_odd(data: bytes) -> bool:
    if data.count(b"[") + data.count(b"{") > bounds.DEPTH:
        return True
    return b".0," in data or b".0}" in data or b".0]" in data


def _is_plain(document: dict[str, Any]) -> bool:
    """No number with a fraction, and at most 64 arrays and objects inside one another."""
    containers: list[_Container] = [document]
    for _ in range(bounds.DEPTH):
        inner = [value for container in containers for value in _values(container)]
        if any(type(value) is float for value in inner):
            return False
        containers = [value for value in inner if isinstance(value, dict | list)]
        if not containers:
            return True
    return False


def _values(container: _Container) -> Iterable[Any]:
    return container.values() if isinstance(container, dict) else container


def _quick(schema: Any, *, negated: bool) -> Any:
    """The schema in words for which both judges have one meaning; it may ask for more, but never for less."""
    if isinstance(schema, bool):
        return schema
    if unknown := schema.keys() - _WORDS:
        raise NotQuick(f"{sorted(unknown)} in a schema")
    if negated and "$ref" in schema:
        raise NotQuick("a reference in a condition")
    quick = {word: _quick_word(word, value, negated) for word, value in schema.items() if word != "format"}
    added = [*_as_pattern(schema), *_as_bounds(schema, negated)]
    return {**quick, "allOf": [*quick.get("allOf", ()), *added]} if added else quick


def _quick_word(word: str, value: Any, negated: bool) -> Any:
    match word:
        case "properties" | "$defs":
            return {name: _quick(inner, negated=negated) for name, inner in value.items()}
        case "allOf":
            return [_quick(inner, negated=negated) for inner in value]
        case "items" | "additionalProperties" | "if" | "then" | "else" | "not":
            return _quick(value, negated=negated or word in _CONDITIONS)
        case _:
            return value


def _as_pattern(schema: dict[str, Any]) -> Iterable[dict[str, Any]]:
    if "format" in schema:
        if schema["format"] not in FORMATS:
            raise NotQuick(f"format {schema['format']}")
        yield {"pattern": FORMATS[schema["format"]]}


def _as_bounds(schema: dict[str, Any], negated: bool) -> Iterable[dict[str, Any]]:
    """Beyond 2^53 a fraction that is zero is written as an exponent, for which `parse` does not look."""
    if schema.get("type") == "integer" or "integer" in schema.get("type", ()):
        if negated:
            raise NotQuick("an integer in a condition")
        yield {"minimum": -bounds.POSITION, "maximum": bounds.POSITION}
