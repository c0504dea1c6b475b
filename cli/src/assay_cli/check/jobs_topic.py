"""I2, I3 and I11 on `resolution.job.v1`: no group has left anything behind that did not take effect or was not kept."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from uuid import UUID

from assay_contracts.decoder import decode
from assay_contracts.envelope import Envelope
from assay_contracts.errors import InvalidMessage
from assay_contracts.messages import ResolutionJob
from assay_runtime import sql

from assay_cli.check.log import JOBS, Log, Record, topic_id_of
from assay_cli.check.reading import Keys, check_partitions, is_readable, read_pages
from assay_cli.check.sources import Sources, stream
from assay_cli.check.violations import Violation, found

_SQL: Final = sql.load("assay_cli", "check_jobs")

Known = Mapping[tuple[str, str], tuple[UUID, str]]
"""Envelope id and epoch of job rows, by tenant and job."""


def check_jobs(sources: Sources) -> Iterator[Violation]:
    """Read the topic once, a page at a time."""
    topic_id = topic_id_of(sources.kafka, JOBS)
    yield from _left_open(sources, topic_id)
    keys = Keys(JOBS)
    with Log(sources.kafka, JOBS) as log:
        yield from check_partitions(log)
        for page in read_pages(log, topic_id, sources.resolver):
            envelopes = [(record, _decode(record)) for record in page]
            known = _rows_of(sources, [envelope for _, envelope in envelopes if envelope is not None])
            for record, envelope in envelopes:
                yield from _check_passed(sources, record, envelope, known)
                if envelope is not None:
                    yield from keys.check(record, envelope.payload)


def _left_open(sources: Sources, topic_id: UUID) -> Iterator[Violation]:
    """An open job whose message its stage's group has left behind; the sweeper has a moment to send it again."""
    for stage, partition, offset, name in stream(sources.resolver, _SQL["list_sent"], {"topic_id": topic_id}):
        if offset < sources.offsets.stages.get(stage, {}).get(partition, 0):
            yield found("i3_offset_past_open_job", f"{name} at {partition}/{offset}")


def _check_passed(
    sources: Sources, record: Record, envelope: Envelope[ResolutionJob] | None, known: Known
) -> Iterator[Violation]:
    if envelope is None or not is_readable(JOBS, record):
        if any(_is_past(record, offsets) for offsets in sources.offsets.stages.values()):
            yield found("i3_unreadable_without_dead_letter", f"{JOBS} {record.name}")
        return
    job = envelope.payload
    row = known.get((job.tenant_id, job.job_id))
    if row is None:
        if _is_past(record, sources.offsets.stages.get(job.stage, {})):
            yield found("i3_job_passed_without_trace", f"{job.tenant_id} {job.job_id} at {record.name}")
    elif row[1] == job.history_epoch and row[0] != envelope.id:
        yield found("i2_message_not_of_its_job", f"{job.tenant_id} {job.job_id} at {record.name}")


def _is_past(record: Record, offsets: Mapping[int, int]) -> bool:
    return record.offset < offsets.get(record.partition, 0)


def _rows_of(sources: Sources, envelopes: Sequence[Envelope[ResolutionJob]]) -> Known:
    wanted = {
        "tenants": [envelope.payload.tenant_id for envelope in envelopes],
        "jobs": [envelope.payload.job_id for envelope in envelopes],
    }
    rows = sources.resolver.execute(_SQL["find_jobs"], wanted)
    return {(tenant_id, job_id): (envelope_id, epoch) for tenant_id, job_id, envelope_id, epoch in rows}


def _decode(record: Record) -> Envelope[ResolutionJob] | None:
    try:
        return decode("resolution.job.v1", record.value)
    except InvalidMessage:
        return None
