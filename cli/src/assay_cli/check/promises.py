"""I2: every job row can be sent as it stands, and says of its work what the row and its capture say."""

from collections.abc import Iterator
from typing import Final

from assay_contracts.decoder import decode
from assay_contracts.errors import InvalidMessage
from assay_resolver.jobs import message
from assay_runtime import sql
from psycopg.rows import TupleRow

from assay_cli.check.sources import Sources, stream
from assay_cli.check.violations import Violation, found

_SQL: Final = sql.load("assay_cli", "check_jobs")


def check_promises(sources: Sources) -> Iterator[Violation]:
    """Decode what the sweeper would send of each job."""
    for row in stream(sources.resolver, _SQL["list_jobs"]):
        if not _is_of_its_row(row):
            yield found("i2_job_says_otherwise", f"{row[0]} {row[1]}")


def _is_of_its_row(row: TupleRow) -> bool:
    envelope_id, envelope_ts, attempt, payload, *named = row[2:]
    try:
        job = decode("resolution.job.v1", message(envelope_id, envelope_ts, attempt, payload)).payload
    except InvalidMessage:
        return False
    said = (job.tenant_id, job.job_id, job.stage, job.capture_id, job.attempt_group, job.history_epoch)
    artifacts = sorted([one.artifact_id, one.sha256, one.bytes] for one in job.artifacts)
    told = (*said, job.catalog_id, job.source_id, job.receipt_id)
    return (*told, artifacts) == (row[0], row[1], *named)
