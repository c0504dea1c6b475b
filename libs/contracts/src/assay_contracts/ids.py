"""Ids: a prefix that says what they name, and the 32 hex digits of a uuidv7."""

import hashlib
from collections.abc import Callable
from typing import Final, Literal, NewType, overload
from uuid import UUID

from uuid_utils import compat

TenantId = NewType("TenantId", str)
CatalogId = NewType("CatalogId", str)
SourceId = NewType("SourceId", str)
CaptureId = NewType("CaptureId", str)
ReceiptId = NewType("ReceiptId", str)
ArtifactId = NewType("ArtifactId", str)
JobId = NewType("JobId", str)
ExtractionId = NewType("ExtractionId", str)
ReadingId = NewType("ReadingId", str)
FactId = NewType("FactId", str)
ListingId = NewType("ListingId", str)
ItemId = NewType("ItemId", str)
AttributeId = NewType("AttributeId", str)
CaseId = NewType("CaseId", str)
DecisionId = NewType("DecisionId", str)
EventId = NewType("EventId", str)

Prefix = Literal["ten", "cat", "src", "cap", "rcpt", "art", "ext", "rdg", "lst", "item", "case", "dec", "evt"]
Stage = Literal["extract", "normalize", "identity", "llm_extract", "llm_review"]

uuid7: Final[Callable[[], UUID]] = compat.uuid7


@overload
def new_id(prefix: Literal["ten"]) -> TenantId: ...
@overload
def new_id(prefix: Literal["cat"]) -> CatalogId: ...
@overload
def new_id(prefix: Literal["src"]) -> SourceId: ...
@overload
def new_id(prefix: Literal["cap"]) -> CaptureId: ...
@overload
def new_id(prefix: Literal["rcpt"]) -> ReceiptId: ...
@overload
def new_id(prefix: Literal["art"]) -> ArtifactId: ...
@overload
def new_id(prefix: Literal["ext"]) -> ExtractionId: ...
@overload
def new_id(prefix: Literal["rdg"]) -> ReadingId: ...
@overload
def new_id(prefix: Literal["lst"]) -> ListingId: ...
@overload
def new_id(prefix: Literal["item"]) -> ItemId: ...
@overload
def new_id(prefix: Literal["case"]) -> CaseId: ...
@overload
def new_id(prefix: Literal["dec"]) -> DecisionId: ...
@overload
def new_id(prefix: Literal["evt"]) -> EventId: ...
def new_id(prefix: Prefix) -> str:
    """A fresh id, such as `cap_0192f4e27c107c71a4b10a3f1c2b8d44`; later ids sort after earlier ones."""
    return f"{prefix}_{uuid7().hex}"


def job_id(capture_id: CaptureId, stage: Stage, attempt_group: int) -> JobId:
    """The id of a resolution job, by which a stage knows work that it has done."""
    return JobId(f"{capture_id}:{stage}:{attempt_group}")


def fact_id(reading_id: ReadingId, n: int) -> FactId:
    """The id of a reading's n-th fact."""
    return FactId(f"{reading_id}:{n}")


def attribute_id(owner_id: str, name: str, line: str | None) -> AttributeId:
    """The id of an attribute: its owner, its name and, when it has a line, 16 hex digits of the line's SHA-256."""
    if not line:
        return AttributeId(f"{owner_id}/{name}")
    return AttributeId(f"{owner_id}/{name}/{hashlib.sha256(line.encode()).hexdigest()[:16]}")
