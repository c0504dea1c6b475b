"""What a schema cannot say: fields of one message that must agree with one another."""

from collections.abc import Iterable

from assay_contracts import ids
from assay_contracts.capture import CaptureRequest
from assay_contracts.errors import InvalidMessage
from assay_contracts.events import (
    AttributeCleared,
    AttributeSet,
    CatalogEvent,
    ItemMerged,
    MappingSet,
)
from assay_contracts.evidence import EvidenceRef, evidence_uri, read_evidence_uri
from assay_contracts.fields import Message
from assay_contracts.job import ResolutionJob
from assay_contracts.pointers import Path, spell
from assay_contracts.reasons import RuleReason
from assay_contracts.receipt import Receipt, StoredArtifact


def check(message: Message, below: Path = ()) -> None:
    """Refuse a message whose fields contradict one another; `below` is its place in the document."""
    for reason, path, text in _contradictions(message):
        raise InvalidMessage(reason, spell(below + path), text)


Contradictions = Iterable[tuple[RuleReason, Path, str]]


def _contradictions(message: Message) -> Contradictions:
    match message:
        case ResolutionJob():
            return _check_job(message)
        case CatalogEvent():
            return _check_event(message)
        case CaptureRequest():
            return _check_capture(message)
        case Receipt():
            return _check_receipt(message)
        case _:
            return ()


def _check_job(job: ResolutionJob) -> Contradictions:
    if job.job_id != ids.job_id(job.capture_id, job.stage, job.attempt_group):
        yield "job_id_mismatch", ("job_id",), "is not capture_id:stage:attempt_group"


def _check_capture(capture: CaptureRequest) -> Contradictions:
    seen: set[str] = set()
    for n, artifact in enumerate(capture.artifacts):
        if artifact.part in seen:
            yield "repeated_part", ("artifacts", n, "part"), "names the part of an artifact before it"
        seen.add(artifact.part)


def _check_receipt(receipt: Receipt) -> Contradictions:
    if receipt.job_id != ids.job_id(receipt.capture_id, "extract", 1):
        yield "job_id_mismatch", ("job_id",), "is not the first job of this capture"
    yield from _check_refs(receipt.artifacts, receipt.tenant_id, ("artifacts",))


def _check_event(event: CatalogEvent) -> Contradictions:
    if event.ref is not None and read_evidence_uri(event.ref).tenant_id != event.tenant_id:
        yield "ref_mismatch", ("ref",), "names another tenant"
    match event.data:
        case ItemMerged(into=into):
            if into == event.aggregate.id:
                yield "merged_into_itself", ("data", "into"), "is the item itself"
            yield from _check_dependency(event, "item", into)
        case MappingSet():
            yield from _check_dependency(event, "item", event.data.item_id)
            yield from _check_refs(event.data.evidence, event.tenant_id, ("data", "evidence"))
        case AttributeSet(owner=owner):
            yield from _check_attribute(event, event.data)
            yield from _check_dependency(event, "item" if owner.type == "item" else "mapping", owner.id)
            yield from _check_refs(event.data.evidence, event.tenant_id, ("data", "evidence"))
        case AttributeCleared():
            yield from _check_attribute(event, event.data)
        case _:
            return


def _check_attribute(event: CatalogEvent, data: AttributeSet | AttributeCleared) -> Contradictions:
    if event.aggregate.id != ids.attribute_id(data.owner.id, data.name, data.line):
        yield "aggregate_mismatch", ("aggregate", "id"), "is not the owner, name and line of the data"


def _check_dependency(event: CatalogEvent, kind: str, wanted: str) -> Contradictions:
    if not any(dependency.type == kind and dependency.id == wanted for dependency in event.dependencies):
        yield "missing_dependency", ("dependencies",), f"do not name the {kind} on which the event rests"


def _check_refs(stored: Iterable[StoredArtifact | EvidenceRef], tenant_id: ids.TenantId, path: Path) -> Contradictions:
    for n, one in enumerate(stored):
        if one.ref != evidence_uri(tenant_id, one.sha256):
            yield "ref_mismatch", (*path, n, "ref"), "does not name the tenant and the hash beside it"
