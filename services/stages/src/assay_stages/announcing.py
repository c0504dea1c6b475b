"""③ again: a committed next job goes to Kafka and its row learns where; what fails here the sweeper makes good."""

from collections.abc import Mapping
from uuid import UUID

import psycopg
from assay_resolver.jobs import FIRST_ATTEMPT, NewJob, SentJob, record_sent
from assay_runtime.errors import DeliveryFailed, KafkaUnavailable
from assay_runtime.kafka import Delivered, Publisher, message_headers
from assay_runtime.logs import get_logger
from assay_runtime.postgres import AsyncPool

from assay_stages import metrics

log = get_logger()


class Announcer:
    """Publishes jobs whose rows are committed."""

    def __init__(self, publisher: Publisher, pool: AsyncPool, topic_ids: Mapping[str, UUID]) -> None:
        """`topic_ids`: the ids that the broker gave to the topics, by their names without prefix."""
        self._publisher = publisher
        self._pool = pool
        self._topic_ids = topic_ids

    async def announce(self, new: NewJob, topic: str, message: bytes) -> None:
        """Publish the first attempt and note where it stands; never raises for an outage."""
        job = new.job
        headers = message_headers(new.envelope_id, job.schema_version, job.trace_id)
        try:
            delivered = await self._publisher.send(topic, job.tenant_id.encode(), message, headers)
            await self._note(new, delivered)
        except (KafkaUnavailable, DeliveryFailed, psycopg.Error) as error:
            metrics.JOBS_LEFT.inc()
            log.warning("job.left_to_sweeper", job_id=job.job_id, error_type=type(error).__name__, error=str(error))
        else:
            metrics.JOBS_OUT.inc()

    async def _note(self, new: NewJob, delivered: Delivered) -> None:
        sent = SentJob(
            new.job.tenant_id,
            new.job.job_id,
            FIRST_ATTEMPT,
            self._topic_ids[delivered.topic],
            delivered.partition,
            delivered.offset,
        )
        async with self._pool.connection() as conn:
            await record_sent(conn, sent)
