"""③ After the commit: hand the first job to Kafka and note where the broker keeps it.

Nobody waits for this. The job row is the promise; a job that is not noted as sent two seconds after it fell due is
sent by the sweeper in relay, so whatever fails here is left to it, and a job sent twice is done once.
"""

import asyncio
import time
import uuid
from typing import Final

import psycopg
from assay_resolver.jobs import FIRST_ATTEMPT, NewJob, SentJob, record_sent
from assay_runtime.errors import AssayRuntimeError
from assay_runtime.failpoints import failpoint
from assay_runtime.kafka import KafkaUnavailable, Publisher, message_headers, topic_ids
from assay_runtime.logs import get_logger
from assay_runtime.postgres import AsyncPool, set_tenant
from assay_runtime.settings import KafkaSettings
from confluent_kafka import KafkaException
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from assay_intake.metrics import ENQUEUE_BACKLOG, ENQUEUED

TOPIC: Final = "resolution.job.v1"
SCHEMA: Final = "resolution.job/1"
MOST_UNDER_WAY: Final = 1_000
SEND_SECONDS: Final = 5.0
STOP_SECONDS: Final = 5.0
TOPIC_ID_SECONDS: Final = 60.0
"""How long the topic's id is believed; a topic that was lost and made again has another one."""

log = get_logger()

_OUTAGES = (AssayRuntimeError, KafkaException, psycopg.Error, PoolClosed, PoolTimeout, TooManyRequests, TimeoutError)


class Enqueuer:
    """Sends beside the requests, for the life of the process."""

    def __init__(self, pool: AsyncPool, publisher: Publisher, settings: KafkaSettings) -> None:
        self._pool = pool
        self._publisher = publisher
        self._settings = settings
        self._under_way: set[asyncio.Task[None]] = set()
        self._topic_id: uuid.UUID | None = None
        self._topic_id_believed_until = 0.0
        self._asking = asyncio.Lock()

    def enqueue(self, new: NewJob) -> None:
        """Begin to send and return; beyond MOST_UNDER_WAY the job is left to the sweeper."""
        if len(self._under_way) >= MOST_UNDER_WAY:
            ENQUEUED.labels("left").inc()
            return
        task = asyncio.create_task(self._send(new))
        self._under_way.add(task)
        task.add_done_callback(self._forget)
        ENQUEUE_BACKLOG.set(len(self._under_way))

    async def close(self) -> None:
        """Wait a little for what is under way, then leave it to the sweeper."""
        if not self._under_way:
            return
        _, late = await asyncio.wait(self._under_way, timeout=STOP_SECONDS)
        for task in late:
            task.cancel()

    async def _send(self, new: NewJob) -> None:
        failpoint("intake.before_enqueue")
        try:
            sent = await self._publish(new)
            failpoint("intake.after_enqueue")
            await self._note(sent)
        except _OUTAGES as error:
            log.warning("enqueue.left", job_id=new.job.job_id, error_type=type(error).__name__)
            ENQUEUED.labels("left").inc()
        else:
            ENQUEUED.labels("sent").inc()

    async def _publish(self, new: NewJob) -> SentJob:
        job = new.job
        headers = message_headers(new.envelope_id, SCHEMA, job.trace_id)
        place = await self._publisher.send(TOPIC, job.tenant_id.encode(), new.message(), headers, SEND_SECONDS)
        topic_id = await self._current_topic_id()
        return SentJob(job.tenant_id, job.job_id, FIRST_ATTEMPT, topic_id, place.partition, place.offset)

    async def _note(self, sent: SentJob) -> None:
        """Losing this note costs one more send, so it need not be on disk before it counts."""
        async with self._pool.connection() as connection:
            await set_tenant(connection, sent.tenant_id)
            await connection.execute("SET LOCAL synchronous_commit = off")
            await record_sent(connection, sent)

    async def _current_topic_id(self) -> uuid.UUID:
        async with self._asking:
            if self._topic_id is None or time.monotonic() >= self._topic_id_believed_until:
                found = await asyncio.to_thread(topic_ids, self._settings, [TOPIC])
                if TOPIC not in found:
                    raise KafkaUnavailable(f"there is no {TOPIC}")
                self._topic_id = found[TOPIC]
                self._topic_id_believed_until = time.monotonic() + TOPIC_ID_SECONDS
            return self._topic_id

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        ENQUEUE_BACKLOG.set(len(self._under_way))
