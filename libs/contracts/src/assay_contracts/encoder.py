"""Messages to bytes: compact UTF-8 that the decoder has already taken."""

import json

from pydantic import BaseModel

from assay_contracts.decoder import decode, decode_document
from assay_contracts.envelope import Envelope
from assay_contracts.errors import UnknownContract
from assay_contracts.messages import MESSAGES, CaptureRequest, EventData, HistoryWitness, Payload, Receipt
from assay_contracts.topics import topic_of


def encode(envelope: Envelope[Payload]) -> bytes:
    """The Kafka value of a message; InvalidMessage if the decoder would refuse it, for its size too."""
    data = _dump(envelope)
    decode(topic_of(_name(envelope.payload)).name, data)
    return data


def encode_document(message: CaptureRequest | Receipt | HistoryWitness) -> bytes:
    """The bytes of a document without an envelope; InvalidMessage if the decoder would refuse it."""
    data = _dump(message)
    match message:
        case CaptureRequest():
            decode_document("capture.v1", data)
        case Receipt():
            decode_document("receipt.v1", data)
        case HistoryWitness():
            decode_document("history.witness.v1", data)
    return data


def encode_data(data: EventData) -> bytes:
    """An event's data as it is stored behind a ref; `decode_data` judges it together with its event."""
    return _dump(data)


def _dump(message: BaseModel) -> bytes:
    document = message.model_dump(mode="json")
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def _name(payload: BaseModel) -> str:
    for name, model in MESSAGES.items():
        if type(payload) is model:
            return name
    raise UnknownContract(f"{type(payload).__name__} is no message")
