"""A schema in words: what a value must be, for a page that people read."""

import json
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

Schema: TypeAlias = dict[str, Any]
Link: TypeAlias = Callable[[str], str]
"""Of the name of a definition, a link to where it is described."""

_BOUNDS: Final = (
    ("minLength", "maxLength", "characters"),
    ("minItems", "maxItems", "items"),
    ("minProperties", "maxProperties", "fields"),
    ("minimum", "maximum", ""),
)


def kind_of(schema: Schema | bool, link: Link) -> str:
    """What a value is: its type, its definition, or the values that it may have."""
    if isinstance(schema, bool):
        return "anything" if schema else "never there"
    if "$ref" in schema:
        return link(str(schema["$ref"]).rpartition("/")[2])
    if "const" in schema or "enum" in schema:
        return " · ".join(code(value) for value in (schema["enum"] if "enum" in schema else [schema["const"]]))
    named = schema.get("type", [])
    types = [named] if isinstance(named, str) else named
    items = f" of {kind_of(schema['items'], link)}" if "items" in schema else ""
    return " or ".join(f"{one}{items}" if one == "array" else one for one in types) or "anything"


def rules_of(schema: Schema | bool) -> list[str]:
    """What else is asked of the value itself."""
    if isinstance(schema, bool):
        return []
    found = [one for least, most, unit in _BOUNDS for one in _bounds(schema.get(least), schema.get(most), unit)]
    found += [code(schema["pattern"])] if "pattern" in schema else []
    found += [str(schema["format"])] if "format" in schema else []
    found += ["no item twice"] if schema.get("uniqueItems") else []
    return found + ([f"absent means {code(schema['default'])}"] if "default" in schema else [])


def _bounds(least: int | None, most: int | None, unit: str) -> Iterator[str]:
    if least == 1 and most is None and unit:
        yield "not empty"
    elif least is not None and most is not None:
        yield f"{least} to {most} {unit}".strip()
    elif least is not None:
        yield f"at least {least} {unit}".strip()
    elif most is not None:
        yield f"at most {most} {unit}".strip()


def conditions_of(schema: Schema, link: Link) -> list[str]:
    """Sentences for what one field asks of another."""
    found = [sentence for inner in schema.get("allOf", ()) for sentence in conditions_of(inner, link)]
    if "if" not in schema:
        return found
    negated = schema["if"].keys() == {"not"}
    when = asked(schema["if"]["not"] if negated else schema["if"], link)
    found += [f"{'Unless' if negated else 'When'} {when}, {asked(schema['then'], link)}."] if "then" in schema else []
    otherwise = schema.get("else", {})
    if "if" in otherwise:
        return found + conditions_of(otherwise, link)
    return found + ([f"Unless {when}, {asked(otherwise, link)}."] if otherwise else [])


def asked(schema: Schema, link: Link, path: str = "") -> str:
    """What a condition asks of a value, as part of a sentence."""
    properties: dict[str, Any] = schema.get("properties", {})
    there = [name for name in schema.get("required", ()) if name not in properties]
    parts = [f"`{path}{name}` is there" for name in there]
    for name, inner in properties.items():
        parts += _asked_of_field(inner, link, f"{path}{name}", always=name in schema.get("required", ()))
    if not properties and not there:
        parts += [_asked_of_value(schema, link, path.removesuffix("."))]
    return " and ".join(parts)


def _asked_of_field(schema: Schema | bool, link: Link, path: str, *, always: bool) -> Iterator[str]:
    if schema is False:
        yield f"`{path}` is absent"
    elif isinstance(schema, dict) and "properties" in schema:
        yield asked(schema, link, f"{path}.")
    elif isinstance(schema, dict):
        yield _asked_of_value(schema, link, path) + ("" if always or "const" in schema else ", if it is there")


def _asked_of_value(schema: Schema, link: Link, path: str) -> str:
    subject = f"`{path}`" if path else "it"
    named = "$ref" in schema or "const" in schema or "enum" in schema or "type" in schema
    kind = [kind_of(schema, link)] if named else []
    rules = rules_of(schema)
    return f"{subject} is {', '.join([*kind, *rules])}"


def code(value: object) -> str:
    """A value as it stands in a document, safe in a table."""
    text = value if isinstance(value, str) else json.dumps(value)
    return f"`{text}`".replace("|", "\\|") if text else "the empty text"
