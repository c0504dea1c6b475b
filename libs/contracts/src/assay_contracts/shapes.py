"""Two more shapes of messages: those that take fields which this version does not know, and those in camel case."""

from functools import cache
from typing import Self

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    model_serializer,
    model_validator,
)
from pydantic.alias_generators import to_camel

from assay_contracts.fields import WIRE, Message


class OpenMessage(Message):
    """A message that grows: a reader keeps and passes on what it does not know; our own code writes none of it."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="after")
    def _check_origin(self, info: ValidationInfo) -> Self:
        if self.model_extra and info.context != WIRE:
            raise ValueError("only a document has fields that this version does not know")
        return self


class Record(Message):
    """A document in camel case. A field may be null or absent, and what was absent is not written."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, serialize_by_alias=True)

    @model_serializer(mode="wrap")
    def _write_what_is_set(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        given, names = self.model_fields_set, _names(type(self))
        return {alias: value for alias, value in write(self).items() if names.get(alias, alias) in given}


@cache
def _names(model: type[BaseModel]) -> dict[str, str]:
    return {field.alias or name: name for name, field in model.model_fields.items()}
