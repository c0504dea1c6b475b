"""Sends the jobs that nobody else has sent, or whose message nobody will read any more.

Who is authoritative: the job row. It says which attempt is due and where its message was put; Kafka says whether that
place can still be read by the job's stage. A job that waits its turn in the log is left alone, however long that takes.

A sweeper claims rows (`sweep_until`) in a short transaction, sends with none open, and records the places where attempt
and state still match. A crash in between leaves the claim to run out and the job to be sent twice, which its stage
recognises by the inbox.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from uuid import UUID

from assay_contracts.decoder import decode
from assay_contracts.errors import InvalidMessage
from assay_resolver import jobs
from assay_runtime.errors import DeliveryFailed, KafkaUnavailable
from assay_runtime.failpoints import failpoint
from assay_runtime.kafka import Delivered, Outgoing, Publisher, message_headers
from assay_runtime.logs import get_logger

from assay_relay import metrics
from assay_relay.log_state import JOB, PLACES, STAGES, LogReader
from assay_relay.store import ClaimedJob, SentJob, SweepStore

log = get_logger()


class Sweeper:
    """Claims, sends and records; every call handles at most one batch of each kind."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    def send_unsent(self, store: SweepStore, topic_id: UUID) -> int:
        """Jobs without a place; how many were claimed."""
        return self._send(store, topic_id, store.claim_unsent())

    def send_lost(self, store: SweepStore, reader: LogReader, topic_id: UUID) -> int:
        """Jobs whose place is past; how many were claimed."""
        reach = store.find_reach(topic_id, PLACES)
        past = reader.read(topic_id).past(reach)
        claimed = self._send(store, topic_id, store.claim_past(topic_id, past))
        return claimed + self._send(store, topic_id, store.claim_foreign(topic_id, STAGES))

    def _send(self, store: SweepStore, topic_id: UUID, claimed: Sequence[ClaimedJob]) -> int:
        if not claimed:
            return 0
        try:
            sent = self._publish(dict(_readable(claimed)))
        except (KafkaUnavailable, DeliveryFailed):
            store.give_back(claimed)
            raise
        failpoint("jobs.after_publish")
        store.record_sends(topic_id, sent)
        for reason, count in Counter(job.reason for job in claimed).items():
            metrics.JOBS_SENT.labels(reason).inc(count)
            log.info("jobs.sent", reason=reason, count=count)
        return len(claimed)

    def _publish(self, messages: dict[ClaimedJob, Outgoing]) -> list[SentJob]:
        try:
            places = self._publisher.publish_batch(list(messages.values()))
        except DeliveryFailed as failure:
            if not failure.permanent:
                raise
            return [sent for job, message in messages.items() for sent in self._publish_alone(job, message)]
        return [_sent(job, place) for job, place in zip(messages, places, strict=True)]

    def _publish_alone(self, job: ClaimedJob, message: Outgoing) -> list[SentJob]:
        """One of a batch is to blame: it keeps its claim until that runs out, and stops nobody else."""
        try:
            return [_sent(job, place) for place in self._publisher.publish_batch([message])]
        except DeliveryFailed as failure:
            if not failure.permanent:
                raise
            _tell_unsendable(job, str(failure))
            return []


def _readable(claimed: Sequence[ClaimedJob]) -> Iterator[tuple[ClaimedJob, Outgoing]]:
    """The jobs that their stage would take, each with its message; the others keep their claim and are named."""
    for job in claimed:
        value = jobs.message(job.envelope_id, job.envelope_ts, job.attempt, job.payload)
        try:
            payload = decode("resolution.job.v1", value).payload
        except InvalidMessage as invalid:
            _tell_unsendable(job, invalid.reason)
            continue
        headers = message_headers(job.envelope_id, payload.schema_version, payload.trace_id)
        yield job, Outgoing(JOB.name, job.tenant_id.encode(), value, headers)


def _sent(job: ClaimedJob, place: Delivered) -> SentJob:
    return SentJob(job.tenant_id, job.job_id, job.attempt, place.partition, place.offset)


def _tell_unsendable(job: ClaimedJob, reason: str) -> None:
    metrics.JOBS_UNSENDABLE.inc()
    log.error("job.unsendable", tenant_id=job.tenant_id, job_id=job.job_id, reason=reason)
