"""I1: every stored evidence row has its bytes in the bucket, with the length and the SHA-256 that it says."""

import hashlib
from collections.abc import AsyncIterator

from assay_contracts.evidence import evidence_uri
from assay_contracts.ids import TenantId
from assay_runtime import sql
from assay_runtime.errors import EvidenceMissing
from assay_runtime.evidence import EvidenceStore

from assay_cli.check.sources import Sources
from assay_cli.check.violations import Violation

_STREAMS = sql.load("assay_cli", "check_streams")


async def check_evidence(sources: Sources) -> list[Violation]:
    """Read every artifact once."""
    async with EvidenceStore(sources.evidence) as store:
        return [violation async for violation in _differing(store, sources)]


async def _differing(store: EvidenceStore, sources: Sources) -> AsyncIterator[Violation]:
    for tenant_id, sha256, length in sources.resolver.execute(_STREAMS["list_evidence"]):
        found = await _measure(store, evidence_uri(TenantId(tenant_id), sha256))
        if found != (sha256, length):
            yield Violation("I1", "i1_bytes_missing_or_other", f"{tenant_id}/{sha256}")


async def _measure(store: EvidenceStore, ref: str) -> tuple[str, int] | None:
    digest, length = hashlib.sha256(), 0
    try:
        async with store.open(ref) as chunks:
            async for chunk in chunks:
                digest.update(chunk)
                length += len(chunk)
    except EvidenceMissing:
        return None
    return digest.hexdigest(), length
