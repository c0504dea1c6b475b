"""All messages in one place, by the names of their schemas."""

from collections.abc import Mapping
from typing import Final

from assay_contracts.capture import CapturePins, CaptureRequest, DeclaredArtifact
from assay_contracts.edgar import EdgarCik, EdgarFiling
from assay_contracts.events import (
    DATA_MODELS,
    Aggregate,
    AttributeCleared,
    AttributeSet,
    CatalogEvent,
    Dependency,
    EventData,
    EventType,
    ItemChanged,
    ItemCreated,
    ItemMerged,
    ItemRetired,
    MappingCleared,
    MappingSet,
    Owner,
)
from assay_contracts.evidence import EvidenceRef
from assay_contracts.execution import Execution
from assay_contracts.fields import Message
from assay_contracts.frames import (
    AckFrame,
    AssignmentFrame,
    CapacityFrame,
    ErrorFrame,
    FinishFrame,
    HelloFrame,
    RenewFrame,
    ResumeFrame,
    StartFrame,
    WelcomeFrame,
)
from assay_contracts.fraud import FraudRow
from assay_contracts.job import ArtifactRef, Pins, ResolutionJob
from assay_contracts.ocr import OcrJob, Origin
from assay_contracts.receipt import Receipt, StoredArtifact
from assay_contracts.report import ReportBase, Safety
from assay_contracts.values import (
    CodeValue,
    FlagValue,
    ListValue,
    MoneyValue,
    NumberValue,
    OfferValue,
    TextValue,
    UrlValue,
    Value,
)
from assay_contracts.witness import HistoryWitness
from assay_contracts.worker_job import CredentialedJob, Job, PublicJob

__all__ = [
    "DATA_MODELS",
    "FRAMES",
    "MESSAGES",
    "AckFrame",
    "Aggregate",
    "ArtifactRef",
    "AssignmentFrame",
    "AttributeCleared",
    "AttributeSet",
    "CapacityFrame",
    "CapturePins",
    "CaptureRequest",
    "CatalogEvent",
    "CodeValue",
    "CredentialedJob",
    "DeclaredArtifact",
    "Dependency",
    "EdgarCik",
    "EdgarFiling",
    "ErrorFrame",
    "EventData",
    "EventType",
    "EvidenceRef",
    "Execution",
    "FinishFrame",
    "FlagValue",
    "FraudRow",
    "HelloFrame",
    "HistoryWitness",
    "ItemChanged",
    "ItemCreated",
    "ItemMerged",
    "ItemRetired",
    "Job",
    "ListValue",
    "MappingCleared",
    "MappingSet",
    "Message",
    "MoneyValue",
    "NumberValue",
    "OcrJob",
    "OfferValue",
    "Origin",
    "Owner",
    "Payload",
    "Pins",
    "PublicJob",
    "Receipt",
    "RenewFrame",
    "ReportBase",
    "ResolutionJob",
    "ResumeFrame",
    "Safety",
    "StartFrame",
    "StoredArtifact",
    "TextValue",
    "UrlValue",
    "Value",
    "WelcomeFrame",
]

Payload = ResolutionJob | CatalogEvent | OcrJob | FraudRow | EdgarCik | EdgarFiling
"""What an envelope carries."""

MESSAGES: Final[Mapping[str, type[Message]]] = {
    "resolution.job.v1": ResolutionJob,
    "catalog.event.v1": CatalogEvent,
    "capture.v1": CaptureRequest,
    "receipt.v1": Receipt,
    "history.witness.v1": HistoryWitness,
    "ocr.job.v1": OcrJob,
    "fraud.row.v1": FraudRow,
    "edgar.cik.v1": EdgarCik,
    "edgar.filing.v1": EdgarFiling,
    "job.v1": Job,
    "job.v1#PublicJob": PublicJob,
    "job.v1#CredentialedJob": CredentialedJob,
    "execution.v1": Execution,
    "report.base.v1": ReportBase,
}
"""By the name of its schema, or of a part of one that stands alone."""

FRAMES: Final[Mapping[str, type[Message]]] = {
    "worker.hello": HelloFrame,
    "worker.capacity": CapacityFrame,
    "worker.resume": ResumeFrame,
    "task.start": StartFrame,
    "task.renew": RenewFrame,
    "task.finish": FinishFrame,
    "worker.welcome": WelcomeFrame,
    "task.assign": AssignmentFrame,
    "ack": AckFrame,
    "error": ErrorFrame,
}
"""The messages of `pulse.worker.v1` and of its parts, by their type."""
