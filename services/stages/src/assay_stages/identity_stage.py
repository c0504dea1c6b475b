"""④→⑤ identity: what a capture's reading means for the catalog, decided by rule in the job's own transaction."""

from assay_contracts.ids import Stage
from assay_contracts.messages import ResolutionJob
from assay_resolver.jobs import CaptureRow
from assay_resolver.rules import resolve_capture
from assay_resolver.streams import Stream

from assay_stages import store
from assay_stages.extract_stage import summary
from assay_stages.normalize.listing_key import listing_key
from assay_stages.store import Connection
from assay_stages.work import Effect, Ended

_NO_LONGER_THERE = (404, 410)


class IdentityStage:
    """Asks the resolver's rules; the decision, its events and the job's end are one commit."""

    stage: Stage = "identity"
    next_stage: Stage | None = None

    async def prepare(self, job: ResolutionJob, capture: CaptureRow) -> Effect:
        """Nothing can be known before the stream's cursor is locked, so all of it is the effect."""

        async def write(conn: Connection) -> Ended:
            stream = Stream(job.tenant_id, job.catalog_id, job.history_epoch)
            resolved = await resolve_capture(
                conn, stream, job.capture_id, job.attempt_group, job.job_id, gone=_gone(capture)
            )
            if resolved.outcome == "nothing":
                return await _nothing(conn, job, capture)
            return Ended(resolved.outcome)

        return write


def _gone(capture: CaptureRow) -> str | None:
    """The key of the listing whose page the source no longer has."""
    return listing_key(capture.key, capture.url) if capture.fetch_status in _NO_LONGER_THERE else None


async def _nothing(conn: Connection, job: ResolutionJob, capture: CaptureRow) -> Ended:
    """The end as the first stage that had nothing to hand on saw it: broken, or nothing found."""
    extracted = summary(await store.list_outcomes(conn, job))
    if extracted.outcome == "ok":
        return Ended("nothing", f"no product with a name (the page answered {capture.fetch_status})")
    return extracted
