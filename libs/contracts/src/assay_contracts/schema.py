"""The schema files, and what they say about a document; `jsonschema` is the judge."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final, cast

from jsonschema import Draft202012Validator, FormatChecker, TypeChecker, validators
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator

from assay_contracts import timestamps
from assay_contracts.errors import InvalidMessage, UnknownContract
from assay_contracts.pointers import Path, spell
from assay_contracts.reasons import SchemaReason
from assay_contracts.strict_json import Json

SCHEMAS: Final = (
    "envelope.v1",
    "resolution.job.v1",
    "catalog.event.v1",
    "capture.v1",
    "receipt.v1",
    "history.witness.v1",
    "ocr.job.v1",
    "fraud.row.v1",
    "edgar.cik.v1",
    "edgar.filing.v1",
    "pulse.worker.v1",
    "job.v1",
    "execution.v1",
    "report.base.v1",
)
PARTS: Final = (
    "pulse.worker.v1#clientFrame",
    "pulse.worker.v1#serverFrame",
    "job.v1#PublicJob",
    "job.v1#CredentialedJob",
)
"""Definitions of a schema that are asked by themselves."""

_REASONS: Final[Mapping[str | None, SchemaReason]] = {
    "required": "missing_field",
    "additionalProperties": "unknown_field",
    None: "unknown_field",  # a property whose schema is `false`
    "type": "wrong_type",
    "const": "wrong_value",
    "enum": "wrong_value",
    "pattern": "wrong_pattern",
    "format": "wrong_format",
    "minimum": "out_of_range",
    "maximum": "out_of_range",
    "minLength": "wrong_length",
    "maxLength": "wrong_length",
    "minItems": "wrong_count",
    "maxItems": "wrong_count",
    "minProperties": "wrong_count",
    "uniqueItems": "repeated_item",
}
_RANKS: Final = {reason: rank for rank, reason in enumerate(dict.fromkeys(_REASONS.values()))}


def check(name: str, document: Json, below: Path = ()) -> None:
    """Refuse a document that its schema refuses, for the error nearest to the root; `below` is its own place."""
    errors = [_Refusal(error, below) for error in _validator(name).iter_errors(document)]
    if errors:
        raise min(errors, key=_Refusal.rank).as_invalid_message()


@cache
def read_schema(name: str) -> dict[str, Any]:
    """The schema of this name, as its file has it; of a part, a schema that asks for that definition."""
    if name in PARTS:
        return _read_part(*name.split("#"))
    if name not in SCHEMAS:
        raise UnknownContract(f"no schema is named {name!r}")
    return json.loads(files("assay_contracts").joinpath("schemas", f"{name}.schema.json").read_bytes())


def _read_part(name: str, definition: str) -> dict[str, Any]:
    """With all definitions at its root, where `jsonschema` finds them without a search through `$id`s."""
    whole = read_schema(name)
    message = {word: value for word, value in whole.items() if word not in ("$schema", "$id", "$defs")}
    written = json.dumps({**whole["$defs"], "message": message}).replace('"$ref": "#"', '"$ref": "#/$defs/message"')
    definitions: dict[str, Any] = json.loads(written)
    return {
        "$schema": whole["$schema"],
        "description": definitions[definition]["description"],
        "$ref": f"#/$defs/{definition}",
        "$defs": definitions,
    }


class _Refusal:
    """One error of `jsonschema`, in our words."""

    def __init__(self, error: ValidationError, below: Path) -> None:
        self.keyword = cast("str | None", error.validator)
        self.wanted = cast("object", error.validator_value)
        self.instance = cast("object", error.instance)
        self.schema = cast("Mapping[str, Any] | bool", error.schema)
        self.reason: SchemaReason = _REASONS[self.keyword]
        self.path: Path = (*below, *error.absolute_path)

    def rank(self) -> tuple[int, str, int, str]:
        return len(self.path), spell(self.path), _RANKS[self.reason], self.text()

    def as_invalid_message(self) -> InvalidMessage:
        return InvalidMessage(self.reason, spell(self.path + self._unknown()[:1]), self.text())

    def text(self) -> str:
        """A sentence of the schema's words; the document's own are not quoted."""
        match self.reason:
            case "missing_field":
                return "lacks " + ", ".join(name for name in cast("list[str]", self.wanted) if name not in self._keys())
            case "unknown_field":
                return "the schema does not know this field"
            case "repeated_item":
                return "an item stands twice"
            case _:
                return f"{self.keyword} must be {json.dumps(self.wanted)}"

    def _keys(self) -> Mapping[str, object]:
        return cast("Mapping[str, object]", self.instance)

    def _unknown(self) -> tuple[str, ...]:
        if self.keyword != "additionalProperties" or isinstance(self.schema, bool):
            return ()
        return tuple(sorted(key for key in self._keys() if key not in self.schema["properties"]))


@cache
def _validator(name: str) -> Validator:
    return _Strict(read_schema(name), format_checker=_FORMATS)


def _is_integer(_checker: TypeChecker, value: object) -> bool:
    """An integer is written as one: 2.0 is not, whatever JSON Schema grants it."""
    return isinstance(value, int) and not isinstance(value, bool)


def _check_pattern(
    _validator: Validator, pattern: str, value: object, _schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if isinstance(value, str) and not _compile(pattern).search(value):
        yield ValidationError("does not match")


def _check_type(
    validator: Validator, types: str | list[str], value: object, _schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """As `type`, but without a text that spells the whole document."""
    if not any(validator.is_type(cast("Json", value), kind) for kind in ([types] if isinstance(types, str) else types)):
        yield ValidationError("is of another type")


def _check_length(
    _validator: Validator, most: int, value: object, _schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """As `maxItems`, with the same thrift."""
    if isinstance(value, list) and len(cast("list[object]", value)) > most:
        yield ValidationError("has too many items")


def _check_items(
    validator: Validator, items: object, value: object, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """As `items`, but an array that is refused for its length costs no look at what is in it."""
    if _fits(value, schema):
        yield from _ITEMS(validator, items, value, schema)


def _check_unique(
    validator: Validator, wanted: object, value: object, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """As `uniqueItems`, with the same thrift."""
    if _fits(value, schema):
        yield from _UNIQUE(validator, wanted, value, schema)


def _fits(value: object, schema: Mapping[str, Any]) -> bool:
    return isinstance(value, list) and len(cast("list[object]", value)) <= schema.get("maxItems", sys.maxsize)


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    """An ECMA-262 pattern: its final `$` is the end of the text, before which no newline is let through."""
    if pattern.endswith("$") and not pattern.endswith("\\$"):
        pattern = pattern[:-1] + r"\Z"
    return re.compile(pattern, re.ASCII)


def _check_date_time(value: object) -> bool:
    return not isinstance(value, str) or timestamps.is_timestamp(value)


def _check_date(value: object) -> bool:
    return not isinstance(value, str) or timestamps.is_date(value)


_FORMATS: Final = FormatChecker(formats=())
_FORMATS.checks("date-time")(_check_date_time)
_FORMATS.checks("date")(_check_date)

_Keyword = Callable[[Validator, object, object, Mapping[str, Any]], Iterable[ValidationError]]
_ITEMS: Final = cast("_Keyword", Draft202012Validator.VALIDATORS["items"])
_UNIQUE: Final = cast("_Keyword", Draft202012Validator.VALIDATORS["uniqueItems"])
_extend = cast("Callable[..., type[Validator]]", validators.extend)  # pyright: ignore[reportUnknownMemberType]  untyped
_Strict: Final = _extend(
    Draft202012Validator,
    validators={
        "type": _check_type,
        "pattern": _check_pattern,
        "items": _check_items,
        "maxItems": _check_length,
        "uniqueItems": _check_unique,
    },
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)
