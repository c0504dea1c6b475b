"""What a schema cannot say: fields of one document that must agree with one another."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from assay_contracts import frame_rules, ids, job_rules
from assay_contracts.contradictions import Contradictions, Document
from assay_contracts.errors import InvalidMessage
from assay_contracts.evidence import evidence_uri, read_evidence_uri
from assay_contracts.layout import Composition
from assay_contracts.pointers import Path, spell

Rule: TypeAlias = Callable[[Document], Contradictions]


def check(name: str, document: Document, below: Path = ()) -> None:
    """Refuse a document whose fields contradict one another; `below` is its own place."""
    rule = rule_of(name)
    if rule is None:
        return
    for reason, path, text in rule(document):
        raise InvalidMessage(reason, spell(below + path), text)


def rule_of(name: str) -> Rule | None:
    """What finds the contradictions of such a document, where there can be any."""
    return _RULES.get(name.partition("#")[0])


def _check_job(job: Document) -> Contradictions:
    if job["job_id"] != ids.job_id(job["capture_id"], job["stage"], job["attempt_group"]):
        yield "job_id_mismatch", ("job_id",), "is not capture_id:stage:attempt_group"


def _check_capture(capture: Document) -> Contradictions:
    seen: set[str] = set()
    for n, artifact in enumerate(capture["artifacts"]):
        if artifact["part"] in seen:
            yield "repeated_part", ("artifacts", n, "part"), "names the part of an artifact before it"
        seen.add(artifact["part"])


def _check_receipt(receipt: Document) -> Contradictions:
    if receipt["job_id"] != ids.job_id(receipt["capture_id"], "extract", 1):
        yield "job_id_mismatch", ("job_id",), "is not the first job of this capture"
    yield from _check_refs(receipt["artifacts"], receipt["tenant_id"], ("artifacts",))


def _check_event(event: Document) -> Contradictions:
    if "ref" in event:
        if read_evidence_uri(event["ref"]).tenant_id != event["tenant_id"]:
            yield "ref_mismatch", ("ref",), "names another tenant"
        return
    data: Document = event["data"]
    match event["type"]:
        case "item.merged":
            yield from _check_merge(event, data["into"])
        case "mapping.set":
            yield from _check_dependency(event, "item", data["item_id"])
            yield from _check_refs(data["evidence"], event["tenant_id"], ("data", "evidence"))
        case "attribute.set":
            owner = data["owner"]
            yield from _check_attribute(event, data)
            yield from _check_dependency(event, "item" if owner["type"] == "item" else "mapping", owner["id"])
            yield from _check_refs(data["evidence"], event["tenant_id"], ("data", "evidence"))
        case "attribute.cleared":
            yield from _check_attribute(event, data)
        case _:
            return


def _check_merge(event: Document, into: str) -> Contradictions:
    if into == event["aggregate"]["id"]:
        yield "merged_into_itself", ("data", "into"), "is the item itself"
    yield from _check_dependency(event, "item", into)


def _check_attribute(event: Document, data: Document) -> Contradictions:
    if event["aggregate"]["id"] != ids.attribute_id(data["owner"]["id"], data["name"], data["line"]):
        yield "aggregate_mismatch", ("aggregate", "id"), "is not the owner, name and line of the data"


def _check_dependency(event: Document, kind: str, wanted: str) -> Contradictions:
    for dependency in event["dependencies"]:
        if dependency["id"] == wanted and dependency["type"] == kind:
            return
    yield "missing_dependency", ("dependencies",), f"do not name the {kind} on which the event rests"


def _check_refs(stored: Iterable[Document], tenant_id: ids.TenantId, path: Path) -> Contradictions:
    for n, one in enumerate(stored):
        if one["ref"] != evidence_uri(tenant_id, one["sha256"]):
            yield "ref_mismatch", (*path, n, "ref"), "does not name the tenant and the hash beside it"


_RULES: Final[Mapping[str, Rule]] = {
    "resolution.job.v1": _check_job,
    "catalog.event.v1": _check_event,
    "capture.v1": _check_capture,
    "receipt.v1": _check_receipt,
    "job.v1": job_rules.check_job,
    "execution.v1": job_rules.check_execution,
    "pulse.worker.v1": frame_rules.check_frame,
}

COMPOSITIONS: Final[Mapping[str, Composition]] = {
    "resolution.job.v1": ("job_id", ("capture_id", "stage", "attempt_group")),
}
"""Rules that ask for nothing but that one field is others joined by colons."""
