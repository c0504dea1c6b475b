"""Judged documents to typed messages, without asking again what the schema has answered."""

from collections.abc import Callable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NewType, TypeAlias, TypeVar, Union, cast, get_args, get_origin
from uuid import UUID

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
    grows = model.model_config.get("extra") == "allow"
    names = tuple(model.model_fields)
    defaults = {name: field.default for name, field in model.model_fields.items()}
    converts = _converts(model)
    new = cast("Callable[[type[_M]], _M]", object.__new__)

    def build(document: _Document) -> _M:
        given = set(document)
        extra: _Document | None = {} if grows else None
        if tuple(document) != names:
            if extra is not None:
                extra.update((name, value) for name, value in document.items() if name not in defaults)
            else:
                given.intersection_update(names)
            document = {name: document[name] if name in given else defaults[name] for name in names}
        for name, convert in converts:
            document[name] = convert(document[name])
        message = new(model)
        _SET_VALUES(message, document)
        _SET_GIVEN(message, given)
        _SET_EXTRA(message, extra)
        _SET_PRIVATE(message, None)
        return message

    return _choosing(*_CHOICES[model], build) if model in _CHOICES else build


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
        return UUID
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return builder(annotation)
    if origin is Annotated:
        return _convert(arguments[0])
    if origin is tuple and arguments[1:] == (...,):
        return _each(_convert(arguments[0]))
    if origin in (Union, UnionType):
        return _union(arguments)
    raise NotBuilt(f"{annotation}")


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
