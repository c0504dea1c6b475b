"""The bytes of ①: promised in a row, then put once under their own hash, before any capture speaks of them."""

from collections.abc import Iterable

from assay_contracts.ids import TenantId
from assay_runtime.evidence import EvidenceStore
from assay_runtime.postgres import AsyncPool, set_tenant

from assay_intake import store
from assay_intake.capture import ReceivedArtifact


async def keep(
    pool: AsyncPool, evidence: EvidenceStore, tenant_id: TenantId, artifacts: Iterable[ReceivedArtifact]
) -> None:
    """Account for the bytes in pending rows, then put them; whatever fails later leaves no byte without a row.

    Rows are written in the order of their hashes, so that two captures that share artifacts never wait for each other
    in a circle.
    """
    by_sha256 = {artifact.sha256: artifact for artifact in artifacts}
    distinct = [by_sha256[sha256] for sha256 in sorted(by_sha256)]
    async with pool.connection() as connection:
        await set_tenant(connection, tenant_id)
        await store.promise_evidence(connection, tenant_id, distinct)
    for artifact in distinct:
        await evidence.put(tenant_id, artifact.sha256, artifact.path, artifact.media_type)
