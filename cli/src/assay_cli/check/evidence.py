"""I1 and I11 in the bucket: every stored evidence row has its bytes, and no object lies under another tenant."""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Final

from assay_contracts.evidence import evidence_uri
from assay_contracts.ids import TenantId
from assay_runtime import sql
from assay_runtime.errors import EvidenceMissing
from assay_runtime.evidence import PROOF_PREFIX, EvidenceStore

from assay_cli.check.sources import PAGE, Sources, second_look, stream
from assay_cli.check.violations import Violation, found

_SQL: Final = sql.load("assay_cli", "check_evidence")
_KEY: Final = re.compile(r"(?P<tenant>ten_[a-z0-9_]{1,60})/(?P<sha256>[0-9a-f]{64})")


def check_evidence(sources: Sources) -> list[Violation]:
    """Read every artifact once, and the name of every object."""
    return asyncio.run(_check(sources))


async def _check(sources: Sources) -> list[Violation]:
    async with EvidenceStore(sources.evidence) as store:
        differing = [violation async for violation in _differing(store, sources)]
        return differing + [violation async for violation in _misplaced(store, sources)]


async def _differing(store: EvidenceStore, sources: Sources) -> AsyncIterator[Violation]:
    for tenant_id, sha256, length in stream(sources.resolver, _SQL["list_evidence"]):
        stored = await _measure(store, evidence_uri(TenantId(tenant_id), sha256))
        if stored != (sha256, length):
            yield found("i1_bytes_missing_or_other", f"{tenant_id}/{sha256}")


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


async def _misplaced(store: EvidenceStore, sources: Sources) -> AsyncIterator[Violation]:
    page: list[str] = []
    async for key in store.keys():
        if not key.startswith(f"{PROOF_PREFIX}/"):
            page.append(key)
        if len(page) == PAGE:
            for violation in _judge(sources, page):
                yield violation
            page = []
    for violation in _judge(sources, page):
        yield violation


def _judge(sources: Sources, keys: Sequence[str]) -> Iterator[Violation]:
    """Objects of no known tenant, and a tenant's bytes under the name of one who never handed them in.

    Bytes without any row may be what a refused request left; rows may be newer than the snapshot.
    """
    named = {key: match for key in keys if (match := _KEY.fullmatch(key))}
    wanted = {
        "tenants": [match["tenant"] for match in named.values()],
        "hashes": [match["sha256"] for match in named.values()],
    }
    with second_look(sources.resolver) as now:
        answers = dict(zip(named, now.execute(_SQL["judge_objects"], wanted).fetchall(), strict=True))
    for key in keys:
        is_known, is_own, is_others = answers.get(key, (False, False, False))
        if not is_known:
            yield found("i11_object_of_no_tenant", key)
        elif is_others and not is_own:
            yield found("i11_object_under_another_tenant", key)
