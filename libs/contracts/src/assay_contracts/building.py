"""Judged documents to typed messages, without asking again what the schema has answered."""

from collections.abc import Callable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NewType, TypeAlias, TypeVar, Union, cast, get_args, get_origin
from uuid import UUID, SafeUUID

from pydantic import BaseModel

from assay_contracts.events import DATA_MODELS, CatalogEvent

_M = TypeVar("_M", bound=BaseModel)
_Document: TypeAlias = dict[str, Any]
_Convert: TypeAlias = Callable[[Any], Any]

_AS_IT_IS: Final = (str, int, bool, NoneType, object, Any)
_CHOICES: Final[Mapping[type[BaseModel], tuple[str, str, Mapping[str, type[BaseModel]]]]] = {
    CatalogEvent: ("data", "type", cast("Mapping[str, type[BaseModel]]", DATA_MODELS)),
}
"""A field whose model is told by the field beside it."""
_SET_VALUES, _SET_GIVEN, _SET_EXTRA, _SET_PRIVATE = (
    cast("Callable[[BaseModel, object], None]", BaseModel.__dict__[name].__set__)
    for name in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)


class NotBuilt(Exception):
    """A field has a type that a document's value does not simply become."""


def builder(model: type[_M]) -> Callable[[_Document], _M]:
    """A function that turns a document which the model surely takes into that model's message.

    The document is the function's to keep. The message equals what `model_validate` would make of it.
    """
    if any(field.alias for field in model.model_fields.values()):
        raise NotBuilt(f"{model} has fields of other names")
    every_name = set(model.model_fields)
    in_order = None if _grows(model) else tuple(model.model_fields)
    arrange, converts = _arranger(model), _converts(model)
    new = cast("Callable[[type[_M]], _M]", object.__new__)

    def build(document: _Document) -> _M:
        given, extra = every_name, None
        if tuple(document) != in_order:
            document, given, extra = arrange(document)
        for name, convert in converts:
            document[name] = convert(document[name])
        message = new(model)
        _SET_VALUES(message, document)
        _SET_GIVEN(message, given.copy())
        _SET_EXTRA(message, extra)
        _SET_PRIVATE(message, None)
        return message

    return _choosing(*_CHOICES[model], build) if model in _CHOICES else build


def _grows(model: type[BaseModel]) -> bool:
    return model.model_config.get("extra") == "allow"


def _arranger(model: type[BaseModel]) -> Callable[[_Document], tuple[_Document, set[str], _Document | None]]:
    """What tells a document's fields in the model's order, which of them are given, and what else is kept."""
    grows = _grows(model)
    defaults = {name: field.default for name, field in model.model_fields.items()}

    def arrange(document: _Document) -> tuple[_Document, set[str], _Document | None]:
        fields = {name: document.get(name, default) for name, default in defaults.items()}
        if grows:
            return fields, set(document), {name: value for name, value in document.items() if name not in defaults}
        return fields, defaults.keys() & document.keys(), None

    return arrange


def _choosing(
    name: str, teller: str, models: Mapping[str, type[BaseModel]], build: Callable[[_Document], _M]
) -> Callable[[_Document], _M]:
    builders = {kind: builder(model) for kind, model in models.items()}

    def choose_and_build(document: _Document) -> _M:
        if name in document:
            document[name] = builders[document[teller]](document[name])
        return build(document)

    return choose_and_build


def _converts(model: type[BaseModel]) -> list[tuple[str, _Convert]]:
    chosen = _CHOICES[model][0] if model in _CHOICES else None
    found = [(name, _convert(field.annotation)) for name, field in model.model_fields.items() if name != chosen]
    return [(name, convert) for name, convert in found if convert is not None]


def _convert(annotation: Any) -> _Convert | None:
    """What makes a field's value of a document's; None where they are the same."""
    if isinstance(annotation, NewType):
        return _convert(annotation.__supertype__)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in _AS_IT_IS or origin is Literal:
        return None
    if annotation is UUID:
        return _read_uuid
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return builder(annotation)
    if origin is Annotated:
        return _convert(arguments[0])
    if origin is tuple and arguments[1:] == (...,):
        return _each(_convert(arguments[0]))
    if origin in (Union, UnionType):
        return _union(arguments)
    raise NotBuilt(f"{annotation}")


def _read_uuid(text: str) -> UUID:
    """As `UUID(text)` does for the one spelling that there is, without looking for the others: half its cost."""
    identity = object.__new__(UUID)
    object.__setattr__(identity, "int", int(text.replace("-", ""), 16))
    object.__setattr__(identity, "is_safe", SafeUUID.unknown)
    return identity


def _each(convert: _Convert | None) -> _Convert:
    if convert is None:
        return tuple
    return lambda values: tuple([convert(value) for value in values])


def _union(members: Sequence[Any]) -> _Convert | None:
    converts = [convert for member in members if (convert := _convert(member)) is not None]
    if not converts:
        return None
    if len(members) == 2 and NoneType in members:
        return lambda value: None if value is None else converts[0](value)
    by_type = {kind: builder(member) for member in members for kind in _kinds(member)}
    return lambda value: by_type[value["type"]](value)


def _kinds(member: Any) -> tuple[str, ...]:
    """The values of `type` by which a model is known among others."""
    if not (isinstance(member, type) and issubclass(member, BaseModel) and "type" in member.model_fields):
        raise NotBuilt(f"{member} is not told apart by its type")
    return get_args(member.model_fields["type"].annotation)
