"""④ extract: from a capture's stored bytes to what each adapter found in them."""

from collections.abc import Iterable, Sequence

from assay_contracts.evidence import evidence_uri
from assay_contracts.ids import Stage, TenantId
from assay_contracts.messages import ArtifactRef, ResolutionJob
from assay_resolver.jobs import CaptureRow
from assay_runtime.evidence import EvidenceStore

from assay_stages import store
from assay_stages.errors import ArtifactMismatch
from assay_stages.extract import adapters
from assay_stages.extract.adapters import Adapter
from assay_stages.extract.facts import Outcome, to_json
from assay_stages.reader_threads import ReaderThreads
from assay_stages.store import Connection, ExtractionRow
from assay_stages.work import Effect, Ended


class ExtractStage:
    """Reads every artifact of the job with every adapter that the pin selects."""

    stage: Stage = "extract"
    next_stage: Stage | None = "normalize"

    def __init__(self, evidence: EvidenceStore, threads: ReaderThreads) -> None:
        """Takes an open store."""
        self._evidence = evidence
        self._threads = threads

    async def prepare(self, job: ResolutionJob, capture: CaptureRow) -> Effect:
        """Fetch, verify and read; the pages of one job are in memory one at a time."""
        selected = adapters.select(job.pins.adapter if job.pins else None)
        rows: list[ExtractionRow] = []
        for artifact in _distinct(job.artifacts):
            content = await self._fetch(job.tenant_id, artifact)
            rows += await self._threads.run(lambda one=artifact, data=content: _read(selected, one, data, capture.url))
        return _effect(job, rows)

    async def _fetch(self, tenant_id: TenantId, artifact: ArtifactRef) -> bytes:
        """The artifact's bytes, whose sha256 the store has checked against the reference; never another tenant's."""
        if artifact.ref != evidence_uri(tenant_id, artifact.sha256):
            raise ArtifactMismatch(f"{artifact.ref} does not name the job's tenant and the hash beside it")
        content = await self._evidence.get(artifact.ref)
        if len(content) != artifact.bytes:
            raise ArtifactMismatch(f"{artifact.ref} has {len(content)} bytes, the job says {artifact.bytes}")
        return content


def _distinct(artifacts: Iterable[ArtifactRef]) -> Iterable[ArtifactRef]:
    """Each content once: the same bytes twice in one capture say the same."""
    return {artifact.sha256: artifact for artifact in artifacts}.values()


def _read(selected: Sequence[Adapter], artifact: ArtifactRef, content: bytes, url: str | None) -> list[ExtractionRow]:
    found = [(adapter.version, adapter.read(content, artifact.media_type, url)) for adapter in selected]
    return [ExtractionRow(artifact.sha256, version, result.outcome, to_json(result.found)) for version, result in found]


def _effect(job: ResolutionJob, rows: Sequence[ExtractionRow]) -> Effect:
    async def write(conn: Connection) -> Ended:
        await store.insert_extractions(conn, job, rows)
        return summary([row.outcome for row in rows])

    return write


def summary(outcomes: Sequence[Outcome]) -> Ended:
    """One word for a capture: ok if any adapter found something, else broken if any could not read its artifact."""
    if "ok" in outcomes:
        return Ended("ok")
    if "broken" in outcomes:
        return Ended("broken", "no adapter could read the artifacts")
    return Ended("nothing", "no adapter found a product")
