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

from assay_cli.check.sources import PAGE, Connection, Sources, pages, second_look, stream
from assay_cli.check.violations import PythonRule, Violation, found

_SQL: Final = sql.load("assay_cli", "check_evidence")
READ_AT_ONCE: Final = 8
"""Artifacts, of each of which one chunk is in memory."""

_KEY: Final = re.compile(r"(?P<tenant>ten_[a-z0-9_]{1,60})/(?P<sha256>[0-9a-f]{64})")


def check_evidence(sources: Sources) -> list[Violation]:
    """Read every artifact once, and the name of every object."""
    return asyncio.run(_check(sources))


async def _check(sources: Sources) -> list[Violation]:
    async with EvidenceStore(sources.evidence) as store:
        differing = [violation async for violation in _differing(store, sources)]
        return differing + [violation async for violation in _misplaced(store, sources)]


async def _differing(store: EvidenceStore, sources: Sources) -> AsyncIterator[Violation]:
    for page in pages(stream(sources.resolver, _SQL["list_evidence"]), READ_AT_ONCE):
        refs = [evidence_uri(TenantId(tenant_id), sha256) for tenant_id, sha256, _ in page]
        stored = await asyncio.gather(*(_measure(store, ref) for ref in refs))
        for (tenant_id, *promised), measured in zip(page, stored, strict=True):
            if measured != tuple(promised):
                yield found("i1_bytes_missing_or_other", f"{tenant_id}/{promised[0]}")


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
    suspects = _suspects(sources.resolver, keys)
    if suspects:
        with second_look(sources.resolver) as now:
            suspects = _suspects(now, list(suspects))
    for key, rule in suspects.items():
        yield found(rule, key)


def _suspects(connection: Connection, keys: Sequence[str]) -> dict[str, PythonRule]:
    named = {key: match for key in keys if (match := _KEY.fullmatch(key))}
    wanted = {
        "tenants": [match["tenant"] for match in named.values()],
        "hashes": [match["sha256"] for match in named.values()],
    }
    answers = dict(zip(named, connection.execute(_SQL["judge_objects"], wanted).fetchall(), strict=True))
    suspects: dict[str, PythonRule] = {}
    for key in keys:
        is_known, is_own, is_others = answers.get(key, (False, False, False))
        if not is_known:
            suspects[key] = "i11_object_of_no_tenant"
        elif is_others and not is_own:
            suspects[key] = "i11_object_under_another_tenant"
    return suspects
