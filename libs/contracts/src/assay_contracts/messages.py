"""All messages in one place, by the names of their schemas."""

from collections.abc import Mapping
from typing import Final

from assay_contracts.capture import CapturePins, CaptureRequest, DeclaredArtifact
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
from assay_contracts.fields import Message
from assay_contracts.job import ArtifactRef, Pins, ResolutionJob
from assay_contracts.receipt import Receipt, StoredArtifact
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

__all__ = [
    "DATA_MODELS",
    "MESSAGES",
    "Aggregate",
    "ArtifactRef",
    "AttributeCleared",
    "AttributeSet",
    "CapturePins",
    "CaptureRequest",
    "CatalogEvent",
    "CodeValue",
    "DeclaredArtifact",
    "Dependency",
    "EventData",
    "EventType",
    "EvidenceRef",
    "FlagValue",
    "HistoryWitness",
    "ItemChanged",
    "ItemCreated",
    "ItemMerged",
    "ItemRetired",
    "ListValue",
    "MappingCleared",
    "MappingSet",
    "Message",
    "MoneyValue",
    "NumberValue",
    "OfferValue",
    "Owner",
    "Payload",
    "Pins",
    "Receipt",
    "ResolutionJob",
    "StoredArtifact",
    "TextValue",
    "UrlValue",
    "Value",
]

Payload = ResolutionJob | CatalogEvent
"""What an envelope carries."""

MESSAGES: Final[Mapping[str, type[Message]]] = {
    "resolution.job.v1": ResolutionJob,
    "catalog.event.v1": CatalogEvent,
    "capture.v1": CaptureRequest,
    "receipt.v1": Receipt,
    "history.witness.v1": HistoryWitness,
}
