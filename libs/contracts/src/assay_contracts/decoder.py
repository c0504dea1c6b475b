"""The one decoder: bytes to a typed message, or one InvalidMessage that says why not.

Size, bytes, schema, rules and model are asked in this order, by every reader, so that no two of them can disagree.
"""

import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from typing import Any, Final, Literal, overload

from assay_contracts import bounds, fields, rules, schema
from assay_contracts.capture import CaptureRequest
from assay_contracts.edgar import EdgarCik, EdgarFiling
from assay_contracts.envelope import Envelope
from assay_contracts.errors import InvalidMessage, UnknownContract
from assay_contracts.events import CatalogEvent
from assay_contracts.evidence import read_evidence_uri
from assay_contracts.execution import Execution
from assay_contracts.frames import ClientFrame, ServerFrame
from assay_contracts.fraud import FraudRow
from assay_contracts.ids import TenantId
from assay_contracts.job import ResolutionJob
from assay_contracts.messages import FRAMES, MESSAGES, Payload
from assay_contracts.ocr import OcrJob
from assay_contracts.reading import Reader, build_slowly, parse
from assay_contracts.receipt import Receipt
from assay_contracts.report import ReportBase
from assay_contracts.topics import topic
from assay_contracts.witness import HistoryWitness
from assay_contracts.worker_job import CredentialedJob, Job, PublicJob

_ENVELOPES: Final[Mapping[str, type[Envelope[Any]]]] = {
    "resolution.job.v1": Envelope[ResolutionJob],
    "catalog.event.v1": Envelope[CatalogEvent],
    "ocr.job.v1": Envelope[OcrJob],
    "fraud.row.v1": Envelope[FraudRow],
    "edgar.cik.v1": Envelope[EdgarCik],
    "edgar.filing.v1": Envelope[EdgarFiling],
}
DOCUMENTS: Final[Mapping[str, int]] = {
    "capture.v1": bounds.DOCUMENT_BYTES,
    "receipt.v1": bounds.DOCUMENT_BYTES,
    "history.witness.v1": bounds.DOCUMENT_BYTES,
    "job.v1": bounds.DOCUMENT_BYTES,
    "job.v1#PublicJob": bounds.DOCUMENT_BYTES,
    "job.v1#CredentialedJob": bounds.DOCUMENT_BYTES,
    "execution.v1": bounds.DOCUMENT_BYTES,
    "report.base.v1": bounds.VALUE_BYTES,
    "pulse.worker.v1": bounds.FRAME_BYTES,
    "pulse.worker.v1#clientFrame": bounds.FRAME_BYTES,
    "pulse.worker.v1#serverFrame": bounds.FRAME_BYTES,
}
"""What stands alone, without an envelope, and how many bytes of it are read."""
_TENANT: Final = re.compile(rb"ten_[a-z0-9_]+")


@overload
def decode(topic_name: Literal["resolution.job.v1"], value: bytes | None) -> Envelope[ResolutionJob]: ...
@overload
def decode(topic_name: Literal["catalog.event.v1"], value: bytes | None) -> Envelope[CatalogEvent]: ...
@overload
def decode(topic_name: Literal["ocr.jobs"], value: bytes | None) -> Envelope[OcrJob]: ...
@overload
def decode(topic_name: Literal["fraud.rows"], value: bytes | None) -> Envelope[FraudRow]: ...
@overload
def decode(topic_name: Literal["edgar.ciks"], value: bytes | None) -> Envelope[EdgarCik]: ...
@overload
def decode(topic_name: Literal["edgar.filings"], value: bytes | None) -> Envelope[EdgarFiling]: ...
@overload
def decode(topic_name: str, value: bytes | None) -> Envelope[Payload]: ...
def decode(topic_name: str, value: bytes | None) -> Envelope[Payload]:
    """The message of a Kafka value; a topic is named without an installation's prefix."""
    return _of_topic(topic_name).read(value)


def judge(topic_name: str, value: bytes | None) -> None:
    """The same refusals as `decode`, for who passes the bytes on and needs no message."""
    _of_topic(topic_name).judge(value)


@overload
def decode_document(name: Literal["capture.v1"], data: bytes) -> CaptureRequest: ...
@overload
def decode_document(name: Literal["receipt.v1"], data: bytes) -> Receipt: ...
@overload
def decode_document(name: Literal["history.witness.v1"], data: bytes) -> HistoryWitness: ...
@overload
def decode_document(name: Literal["job.v1"], data: bytes) -> Job: ...
@overload
def decode_document(name: Literal["job.v1#PublicJob"], data: bytes) -> PublicJob: ...
@overload
def decode_document(name: Literal["job.v1#CredentialedJob"], data: bytes) -> CredentialedJob: ...
@overload
def decode_document(name: Literal["execution.v1"], data: bytes) -> Execution: ...
@overload
def decode_document(name: Literal["report.base.v1"], data: bytes) -> ReportBase: ...
@overload
def decode_document(name: Literal["pulse.worker.v1"], data: bytes) -> ClientFrame | ServerFrame: ...
@overload
def decode_document(name: Literal["pulse.worker.v1#clientFrame"], data: bytes) -> ClientFrame: ...
@overload
def decode_document(name: Literal["pulse.worker.v1#serverFrame"], data: bytes) -> ServerFrame: ...
@overload
def decode_document(name: str, data: bytes) -> fields.Message: ...
def decode_document(name: str, data: bytes) -> fields.Message:
    """The message of a document without an envelope, an HTTP body or a frame; `name` is that of a schema or a part."""
    return _of_document(name).read(data)


def judge_document(name: str, data: bytes) -> None:
    """The same refusals as `decode_document`, without a message."""
    _of_document(name).judge(data)


def decode_data(event: CatalogEvent, data: bytes) -> CatalogEvent:
    """An event that holds a ref, with the data that its ref names in place of the ref."""
    if event.ref is None:
        raise UnknownContract("the event holds its data")
    document = event.model_dump(mode="json", exclude={"ref"})
    document["data"] = parse(data, bounds.EVENT_DATA_BYTES)
    if read_evidence_uri(event.ref).sha256 != sha256(data).hexdigest():
        raise InvalidMessage("ref_mismatch", "/ref", "names other bytes than these")
    schema.check("catalog.event.v1", document)
    rules.check("catalog.event.v1", document)
    return build_slowly(CatalogEvent, document)


def check_key(topic_name: str, key: bytes | None, payload: Payload) -> TenantId:
    """The tenant that the Kafka key names; InvalidMessage if it names none, or another than a payload that does."""
    if topic(topic_name).key != "tenant":
        raise UnknownContract(f"{topic_name!r} is not keyed by tenant")
    if key is None:
        raise InvalidMessage("null_key", "", "the message has no key")
    if not _TENANT.fullmatch(key):
        raise InvalidMessage("wrong_key", "", "the key is no tenant")
    tenant_id = TenantId(key.decode())
    if isinstance(payload, ResolutionJob | CatalogEvent) and payload.tenant_id != tenant_id:
        raise InvalidMessage("wrong_key", "", "the key is not the tenant of the payload")
    return tenant_id


@cache
def _of_topic(name: str) -> Reader[Envelope[Payload]]:
    carrier = topic(name)
    if carrier.message is None or carrier.message not in _ENVELOPES:
        raise UnknownContract(f"{name!r} carries no envelope")
    return Reader(carrier.message, _ENVELOPES[carrier.message], carrier.max_bytes, enveloped=True)


@cache
def _of_document(name: str) -> Reader[fields.Message]:
    if name not in DOCUMENTS:
        raise UnknownContract(f"{name!r} is no document")
    model = MESSAGES.get(name, FRAMES)
    return Reader(name, model, DOCUMENTS[name], enveloped=False)
