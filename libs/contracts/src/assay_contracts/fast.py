"""The quick yes: bytes that surely are strict JSON and what their schema asks for.

Nothing here refuses. What is not surely right is asked of `strict_json` and `schema`, whose word is the verdict, so
the two paths cannot differ unless something here says yes where those say no.

Bytes that come out again when the parsed document is written prove that no key was lost to a twin and that every
number and string survives. That leaves U+0000 and depth to look for, and integers written with a fraction: the draft
of JSON Schema before ours did not take them for integers, and the compiled judge knows that draft, too.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import jsonschema_rs
import orjson

from assay_contracts import bounds, scanning

QuickJudge: TypeAlias = Callable[[bytes], "dict[str, Any] | None"]
"""The document of bytes that are surely right; None decides nothing."""

_WORDS: Final = {
    *("$schema", "$id", "$ref", "$defs", "title", "description", "type", "const", "enum"),
    *("properties", "required", "additionalProperties", "minProperties", "items", "minItems", "maxItems"),
    *("uniqueItems", "minLength", "maxLength", "pattern", "format", "minimum", "maximum"),
    *("allOf", "if", "then", "else", "not"),
}
_DRAFT_4: Final = "http://json-schema.org/draft-04/schema#"
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


def quick_judge(schema: dict[str, Any], payload: dict[str, Any] | None = None) -> QuickJudge:
    """A judge of documents of this schema, whose field `payload` is judged by a schema of its own, if one is given."""
    whole = _combined(schema, payload)
    if whole.get("type") != "object":
        raise NotQuick("a document that may be no object")
    takes = jsonschema_rs.Draft202012Validator(
        _quick(whole), validate_formats=False, pattern_options=jsonschema_rs.RegexOptions()
    ).is_valid
    fields = _fields_of_a_shallow_one(whole)

    def judge(data: bytes) -> dict[str, Any] | None:
        try:
            document: dict[str, Any] = orjson.loads(data)
            if orjson.dumps(document) != data or not takes(document):
                return None
        except (orjson.JSONDecodeError, orjson.JSONEncodeError):
            return None
        if b"\\" in data and b"\\u0000" in data:
            return None
        return document if len(document) == fields or _is_shallow_enough(data) else None

    return judge


def _combined(schema: dict[str, Any], payload: dict[str, Any] | None) -> dict[str, Any]:
    if payload is None:
        return schema
    properties: dict[str, Any] = schema["properties"]
    return {**schema, "properties": {**properties, "payload": _with(payload, properties["payload"])}}


def _fields_of_a_shallow_one(schema: dict[str, Any]) -> int:
    """With how many fields a document surely has only known ones, none of which is deep; 0 if that is not sure."""
    properties: dict[str, Any] = schema.get("properties", {})
    known = schema.get("additionalProperties") is False or properties.keys() == set(schema.get("required", ()))
    shallow = known and all(_is_shallow(inner, schema) for inner in properties.values())
    return len(properties) if shallow else 0


def _is_shallow(schema: dict[str, Any] | bool, within: dict[str, Any]) -> bool:
    """Whether every array and object is closed down to its leaves; what conditions say is not looked at."""
    if isinstance(schema, bool):
        return not schema
    within = schema if "$id" in schema else within
    if "$ref" in schema:
        return _is_shallow(within["$defs"][schema["$ref"].removeprefix("#/$defs/")], within)
    types = _types(schema)
    if "array" in types and not _is_shallow(schema.get("items", True), within):
        return False
    closed = schema.get("additionalProperties") is False
    return "object" not in types or (
        closed and all(_is_shallow(inner, within) for inner in schema["properties"].values())
    )


def _types(schema: dict[str, Any]) -> set[str]:
    types = schema.get("type", () if "const" in schema or "enum" in schema else ("object", "array"))
    return {types} if isinstance(types, str) else set(types)


def _is_shallow_enough(data: bytes) -> bool:
    """At most 64 arrays and objects inside one another."""
    if data.count(b"[") + data.count(b"{") <= bounds.DEPTH:
        return True
    return scanning.depth(scanning.outside_strings(data)) <= bounds.DEPTH


def _quick(schema: Any) -> Any:
    """The schema in words to which the compiled judge gives the meaning that the reference does."""
    if isinstance(schema, bool):
        return schema
    if unknown := schema.keys() - _WORDS:
        raise NotQuick(f"{sorted(unknown)} in a schema")
    quick = {word: _quick_word(word, value) for word, value in schema.items()}
    if "integer" in _types(schema):
        quick = _with(quick, _whole_numbers(quick.pop("type")))
    if "format" in schema:
        quick = _with(quick, _calendar(quick.pop("format")))
    return quick


def _with(schema: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "allOf": [*schema.get("allOf", ()), more]}


def _quick_word(word: str, value: Any) -> Any:
    match word:
        case "properties" | "$defs":
            return {name: _quick(inner) for name, inner in value.items()}
        case "allOf":
            return [_quick(inner) for inner in value]
        case "items" | "additionalProperties" | "if" | "then" | "else" | "not":
            return _quick(value)
        case _:
            return value


def _whole_numbers(types: str | list[str]) -> dict[str, Any]:
    """In draft 4, 2.0 is no integer."""
    name = types if isinstance(types, str) else "-".join(types)
    return {"$schema": _DRAFT_4, "id": f"urn:assay:type:{name}", "type": types}


def _calendar(name: str) -> dict[str, Any]:
    if name not in FORMATS:
        raise NotQuick(f"format {name}")
    return {"pattern": FORMATS[name]}
