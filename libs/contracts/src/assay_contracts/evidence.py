"""Evidence: where in which stored bytes a value was read, and how such bytes are named."""

import re
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from assay_contracts import bounds, fields
from assay_contracts.fields import Message
from assay_contracts.ids import TenantId

PlaceSyntax = Literal["json_pointer", "xpath", "chars", "cell", "page"]

_REF: Final = re.compile(r"r2://evidence-private/(ten_[a-z0-9_]{1,60})/([0-9a-f]{64})")


class EvidenceRef(Message):
    """One fact that supports a value: its receipt, its bytes, the place in them, and the versions that read it."""

    fact: fields.FactId
    receipt_id: fields.BoundedReceiptId
    capture_id: fields.BoundedCaptureId
    source_id: fields.BoundedSourceId
    sha256: fields.Sha256
    ref: fields.EvidenceUri
    media_type: fields.MediaType
    place_syntax: PlaceSyntax
    place: Annotated[str, Field(max_length=bounds.PLACE)]
    raw: Annotated[str, Field(max_length=bounds.EVENT_RAW)]
    adapter: fields.BoundedAdapter
    profile: fields.BoundedProfile


class StoredBytes(NamedTuple):
    """What an evidence ref names."""

    tenant_id: TenantId
    sha256: str


def evidence_uri(tenant_id: TenantId, sha256: str) -> str:
    """The ref of a tenant's bytes; the bucket in it is a logical name that settings map."""
    return f"r2://evidence-private/{tenant_id}/{sha256}"


def read_evidence_uri(ref: str) -> StoredBytes:
    """The tenant and hash that a ref names; ValueError if it is not a ref."""
    match = _REF.fullmatch(ref)
    if match is None:
        raise ValueError("not an evidence ref")
    return StoredBytes(TenantId(match.group(1)), match.group(2))
