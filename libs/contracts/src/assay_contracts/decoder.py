"""The one decoder: bytes to a typed message, or one InvalidMessage that says why not.

Size, bytes, schema, rules and model are asked in this order, by every reader, so that no two of them can disagree.
"""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Final, Literal, TypeVar, overload

from pydantic import BaseModel, ValidationError

from assay_contracts import bounds, fields, rules, schema, strict_json
from assay_contracts.capture import CaptureRequest
from assay_contracts.envelope import Envelope
from assay_contracts.errors import InvalidMessage, UnknownContract
from assay_contracts.events import CatalogEvent
from assay_contracts.evidence import read_evidence_uri
from assay_contracts.ids import TenantId
from assay_contracts.job import ResolutionJob
from assay_contracts.messages import MESSAGES, Payload
from assay_contracts.receipt import Receipt
from assay_contracts.topics import topic
from assay_contracts.witness import HistoryWitness

_M = TypeVar("_M", bound=BaseModel)

_ENVELOPES: Final[Mapping[str, type[Envelope[ResolutionJob]] | type[Envelope[CatalogEvent]]]] = {
    "resolution.job.v1": Envelope[ResolutionJob],
    "catalog.event.v1": Envelope[CatalogEvent],
}
_DOCUMENTS: Final = ("capture.v1", "receipt.v1", "history.witness.v1")
_TENANT: Final = re.compile(rb"ten_[a-z0-9_]+")


@overload
def decode(topic_name: Literal["resolution.job.v1"], value: bytes | None) -> Envelope[ResolutionJob]: ...
@overload
def decode(topic_name: Literal["catalog.event.v1"], value: bytes | None) -> Envelope[CatalogEvent]: ...
@overload
def decode(topic_name: str, value: bytes | None) -> Envelope[ResolutionJob] | Envelope[CatalogEvent]: ...
def decode(topic_name: str, value: bytes | None) -> Envelope[ResolutionJob] | Envelope[CatalogEvent]:
    """The message of a Kafka value; a topic is named without an installation's prefix."""
    carrier = topic(topic_name)
    if carrier.message is None or carrier.message not in _ENVELOPES:
        raise UnknownContract(f"{topic_name!r} carries no envelope")
    document = _parse(value, carrier.max_bytes)
    schema.check("envelope.v1", document)
    assert isinstance(document, dict), "the envelope's schema takes objects only"
    payload = document["payload"]
    schema.check(carrier.message, payload, ("payload",))
    assert isinstance(payload, dict), "the envelope's schema takes a payload that is an object only"
    rules.check(carrier.message, payload, ("payload",))
    return _build(_ENVELOPES[carrier.message], document)


@overload
def decode_document(name: Literal["capture.v1"], data: bytes) -> CaptureRequest: ...
@overload
def decode_document(name: Literal["receipt.v1"], data: bytes) -> Receipt: ...
@overload
def decode_document(name: Literal["history.witness.v1"], data: bytes) -> HistoryWitness: ...
def decode_document(name: str, data: bytes) -> fields.Message:
    """The message of a document without an envelope: an HTTP body's, or a witness's; at most 64 KiB."""
    if name not in _DOCUMENTS:
        raise UnknownContract(f"{name!r} is no document")
    document = _parse(data, bounds.DOCUMENT_BYTES)
    schema.check(name, document)
    assert isinstance(document, dict), "every document's schema takes objects only"
    rules.check(name, document)
    return _build(MESSAGES[name], document)


def decode_data(event: CatalogEvent, data: bytes) -> CatalogEvent:
    """An event that holds a ref, with the data that its ref names in place of the ref."""
    if event.ref is None:
        raise UnknownContract("the event holds its data")
    document = event.model_dump(mode="json", exclude={"ref"})
    document["data"] = _parse(data, bounds.EVENT_DATA_BYTES)
    if read_evidence_uri(event.ref).sha256 != sha256(data).hexdigest():
        raise InvalidMessage("ref_mismatch", "/ref", "names other bytes than these")
    schema.check("catalog.event.v1", document)
    rules.check("catalog.event.v1", document)
    return _build(CatalogEvent, document)


def check_key(topic_name: str, key: bytes | None, payload: Payload) -> TenantId:
    """The tenant that the Kafka key names; InvalidMessage if it names none, or another than the payload."""
    if topic(topic_name).key != "tenant":
        raise UnknownContract(f"{topic_name!r} is not keyed by tenant")
    if key is None:
        raise InvalidMessage("null_key", "", "the message has no key")
    if not _TENANT.fullmatch(key) or key.decode() != payload.tenant_id:
        raise InvalidMessage("wrong_key", "", "the key is not the tenant of the payload")
    return payload.tenant_id


def _parse(value: bytes | None, max_bytes: int) -> strict_json.Json:
    if value is None:
        raise InvalidMessage("null_value", "", "the message has no value")
    if len(value) > max_bytes:
        raise InvalidMessage("too_large", "", f"has {len(value)} bytes where {max_bytes} may be")
    return strict_json.parse(value)


def _build(model: type[_M], document: strict_json.Json) -> _M:
    try:
        return model.model_validate(document, context=fields.WIRE)
    except ValidationError as error:
        kinds = ", ".join(sorted({detail["type"] for detail in error.errors(include_input=False)}))
        raise InvalidMessage("not_modelled", "", f"the schema takes it, the model does not: {kinds}") from None
