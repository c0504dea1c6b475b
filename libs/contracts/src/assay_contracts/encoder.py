"""Messages to bytes: compact UTF-8 that the decoder would take."""

import json
from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from assay_contracts import bounds, rules, schema, strict_json
from assay_contracts.decoder import judge, judge_document
from assay_contracts.envelope import Envelope
from assay_contracts.errors import InvalidMessage, UnknownContract
from assay_contracts.events import CatalogEvent
from assay_contracts.fields import Message
from assay_contracts.messages import FRAMES, MESSAGES, Payload
from assay_contracts.reading import parse
from assay_contracts.topics import topic_of

_NAMES: Final[Mapping[type[BaseModel], str]] = {
    **{model: name for name, model in MESSAGES.items()},
    **dict.fromkeys(FRAMES.values(), "pulse.worker.v1"),
}


def encode(envelope: Envelope[Payload]) -> bytes:
    """The Kafka value of a message; InvalidMessage if the decoder would refuse it, for its size too."""
    data = _dump(envelope)
    judge(topic_of(_name(envelope.payload)).name, data)
    return data


def encode_document(message: Message) -> bytes:
    """The bytes of a document without an envelope; InvalidMessage if the decoder would refuse it."""
    data = _dump(message)
    judge_document(_name(message), data)
    return data


def encode_data(event: CatalogEvent) -> bytes:
    """An event's data as it is stored behind a ref; InvalidMessage if `decode_data` would refuse it for that event."""
    if event.data is None:
        raise UnknownContract("the event holds no data")
    data = _dump(event.data)
    parse(data, bounds.EVENT_DATA_BYTES)
    document = strict_json.parse(_dump(event))
    assert isinstance(document, dict), "an event is an object"
    schema.check("catalog.event.v1", document)
    rules.check("catalog.event.v1", document)
    return data


def _dump(message: BaseModel) -> bytes:
    try:
        return message.__pydantic_serializer__.to_json(message)
    except PydanticSerializationError:
        return _dump_text_that_is_no_unicode(message)


def _dump_text_that_is_no_unicode(message: BaseModel) -> bytes:
    """Half a surrogate is written all the same, for the judge to refuse."""
    try:
        document = message.model_dump(mode="json")
    except (PydanticSerializationError, TypeError):
        raise InvalidMessage("wrong_type", "", "a field holds what its model does not take") from None
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def _name(message: BaseModel) -> str:
    name = _NAMES.get(type(message))
    if name is None:
        raise UnknownContract(f"{type(message).__name__} is no message")
    return name
