"""How the bytes of one kind of message are judged and become typed: quickly where the answer is surely yes."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, TypeAlias, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from assay_contracts import fields, rules, schema, strict_json
from assay_contracts.building import NotBuilt, builder
from assay_contracts.collecting import LARGE_BYTES, uncollected
from assay_contracts.errors import InvalidMessage
from assay_contracts.fast import NotQuick, QuickJudge, quick_judge
from assay_contracts.layout import Layout, NotLaidOut, layout
from assay_contracts.pointers import Path

_M = TypeVar("_M", bound=BaseModel, covariant=True)
_B = TypeVar("_B", bound=BaseModel)
_PAYLOAD: Final[Path] = ("payload",)

Models: TypeAlias = type[_B] | Mapping[str, type[_B]]
"""The model of a message; of a message that comes in several shapes, the models by the document's `type`."""


class Reader(Generic[_M]):
    """The quick and the slow way from bytes to one kind of message; their verdicts never differ."""

    def __init__(self, name: str, model: Models[_M], max_bytes: int, *, enveloped: bool) -> None:
        self.name, self.model, self.max_bytes = name, model, max_bytes
        self._below: Path = _PAYLOAD if enveloped else ()
        self._is_laid_out = _layout(name, enveloped)
        self._take = _quick_judge(name, enveloped)
        self._rule = rules.rule_of(name)
        self._is_ruled_by_layout = self._rule is None or name in rules.COMPOSITIONS
        self._build = _quick_builder(model)

    def judge(self, value: bytes | None) -> None:
        """InvalidMessage if the bytes are not this message."""
        if value is None or len(value) <= LARGE_BYTES:
            return self._judge(value)
        with uncollected():
            return self._judge(value)

    def read(self, value: bytes | None) -> _M:
        """The message, or InvalidMessage."""
        if value is None or len(value) <= LARGE_BYTES:
            return self._read(value)
        with uncollected():
            return self._read(value)

    def _judge(self, value: bytes | None) -> None:
        laid_out = value is not None and len(value) <= self.max_bytes and self._is_laid_out(value)
        if not (laid_out and self._is_ruled_by_layout) and self._judge_quickly(value) is None:
            self.judge_slowly(value)

    def _read(self, value: bytes | None) -> _M:
        document = self._judge_quickly(value)
        return self.read_slowly(value) if document is None else self._build(document)

    def judge_slowly(self, value: bytes | None) -> strict_json.Json:
        """The judged document by the reference: strict scan, `jsonschema` and rules."""
        document = parse(value, self.max_bytes)
        if self._below:
            schema.check("envelope.v1", document)
        message = _inside(document, self._below)
        schema.check(self.name, message, self._below)
        rules.check(self.name, _as_object(message), self._below)
        return document

    def read_slowly(self, value: bytes | None) -> _M:
        """The message by the reference, which the model judges, too."""
        return build_slowly(self.model, self.judge_slowly(value))

    def _judge_quickly(self, value: bytes | None) -> dict[str, Any] | None:
        """The document, if it surely is what the schema asks for; InvalidMessage if only its fields disagree."""
        if value is None or len(value) > self.max_bytes:
            return None
        if self._is_laid_out(value):
            document: dict[str, Any] | None = orjson.loads(value)
            if self._is_ruled_by_layout:
                return document
        else:
            document = self._take(value)
        if document is not None and self._rule is not None:
            rules.check(self.name, document["payload"] if self._below else document, self._below)
        return document


def parse(value: bytes | None, max_bytes: int) -> strict_json.Json:
    """The document of bytes that are there, not too many, and strict JSON."""
    if value is None:
        raise InvalidMessage("null_value", "", "the message has no value")
    if len(value) > max_bytes:
        raise InvalidMessage("too_large", "", f"has {len(value)} bytes where {max_bytes} may be")
    return strict_json.parse(value)


def build_slowly(model: Models[_B], document: strict_json.Json) -> _B:
    """The model's message of a document that its schema has taken."""
    model = model if isinstance(model, type) else model[str(_as_object(document)["type"])]
    try:
        return model.model_validate(document, context=fields.WIRE, by_alias=True, by_name=False)
    except ValidationError as error:
        kinds = ", ".join(sorted({detail["type"] for detail in error.errors(include_input=False)}))
        raise InvalidMessage("not_modelled", "", f"the schema takes it, the model does not: {kinds}") from None


def _quick_judge(name: str, enveloped: bool) -> QuickJudge:
    message = schema.read_schema(name)
    try:
        return quick_judge(schema.read_schema("envelope.v1"), message) if enveloped else quick_judge(message)
    except NotQuick:
        return lambda value: None


def _layout(name: str, enveloped: bool) -> Layout:
    message, composition = schema.read_schema(name), rules.COMPOSITIONS.get(name)
    try:
        return layout(schema.read_schema("envelope.v1"), message, composition) if enveloped else layout(message)
    except NotLaidOut:
        return lambda value: None


def _quick_builder(model: Models[_B]) -> Callable[[dict[str, Any]], _B]:
    if not isinstance(model, type):
        builders = {kind: _quick_builder(one) for kind, one in model.items()}
        return lambda document: builders[document["type"]](document)
    try:
        return builder(model)
    except NotBuilt:
        return lambda document: build_slowly(model, document)


def _inside(document: strict_json.Json, below: Path) -> strict_json.Json:
    return _as_object(document)["payload"] if below else document


def _as_object(document: strict_json.Json) -> dict[str, strict_json.Json]:
    assert isinstance(document, dict), "every message's schema takes objects only"
    return document
