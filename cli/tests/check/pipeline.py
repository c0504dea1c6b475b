"""Carries captures through the real code of every hop, one record at a time and without the processes around it."""

import hashlib
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import LiteralString
from uuid import UUID

import psycopg
from assay_cli.check.log import EVENTS, JOBS, Log
from assay_contracts.ids import job_id, new_id, uuid7
from assay_contracts.messages import ArtifactRef, Pins, ResolutionJob
from assay_contracts.timestamps import timestamp
from assay_product.batch import apply_batch
from assay_product.dead_letters import Sweep
from assay_product.deliveries import Delivery
from assay_relay.letters import Copier
from assay_relay.store import SweepStore
from assay_resolver.dead_letters import Origin
from assay_resolver.jobs import NewJob, SentJob, insert_job, record_sent
from assay_runtime.evidence import EvidenceStore, ref_for
from assay_runtime.kafka import Outgoing, Publisher, make_consumer, message_headers, physical
from assay_runtime.postgres import AsyncPool, open_async_pool, open_sync_pool
from assay_stages.announcing import Announcer
from assay_stages.extract_stage import ExtractStage
from assay_stages.handling import Handler
from assay_stages.identity_stage import IdentityStage
from assay_stages.normalize_stage import NormalizeStage
from assay_stages.reader_threads import ReaderThreads
from assay_stages.slots import Slots
from confluent_kafka import TopicPartition
from psycopg.rows import TupleRow
from pydantic import SecretStr

from .place import EPOCH, Place
from .shop import CATALOG, Shown

READER_SECONDS = 30.0


@dataclass
class Pipeline:
    """Intake, the stages, the relay and apply of one place. `seen`: how far the stages have read, by partition."""

    place: Place
    store: EvidenceStore
    pool: AsyncPool
    publisher: Publisher
    handlers: Mapping[str, Handler]
    seen: dict[int, int] = field(default_factory=dict[int, int])

    async def capture(self, shown: Shown, *, send: bool = True) -> str:
        """① to ③ as intake does it: bytes, then rows, then the message; returns the capture's id."""
        await self.store.put(shown.tenant, shown.sha256, shown.body, "text/html")
        new = NewJob(_job_of(shown), uuid7(), int(datetime.now(UTC).timestamp()))
        with psycopg.connect(self.place.resolver.admin_dsn) as connection:
            _insert_rows(connection, shown, new.job)
        async with self.pool.connection() as connection:
            await insert_job(connection, new)
        if send:
            await self._send(new)
        return new.job.capture_id

    async def settle(self) -> None:
        """④ and ⑤: let every stage handle every record that is there, until no new one comes; then commit offsets."""
        while records := self._unread():
            for origin in records:
                for handler in self.handlers.values():
                    await handler.handle(origin)
                self.seen[origin.partition] = origin.offset + 1
        for stage in self.handlers:
            commit(self.place, JOBS, f"stage.{stage}", self.seen)

    def relay(self) -> None:
        """⑥: publish every stream's unpublished events in position order, mark them, and copy dead letters."""
        with psycopg.connect(self.place.resolver.admin_dsn) as connection:
            rows = connection.execute(
                "SELECT o.tenant_id, o.event_id, o.value FROM outbox o LEFT JOIN relay_stream r"
                " USING (tenant_id, catalog_id, history_epoch) WHERE position > COALESCE(published, 0)"
                " ORDER BY tenant_id, catalog_id, position"
            ).fetchall()
            self.publisher.publish_batch([_event(*row) for row in rows])
            connection.execute(
                "INSERT INTO relay_stream (tenant_id, catalog_id, history_epoch, bucket, published)"
                " SELECT tenant_id, catalog_id, history_epoch, 0, position FROM cursor"
                " ON CONFLICT (tenant_id, catalog_id, history_epoch) DO UPDATE SET published = excluded.published"
            )
        store = SweepStore(SecretStr(self.place.resolver.dsn("assay_relay_jobs")), 100, 30, 0)
        Copier(self.publisher).copy(store)
        store.close()

    def apply(self) -> None:
        """⑦: one batch of all that is in the topic, then its offsets, then the copies of dead letters."""
        dsn = SecretStr(self.place.product.dsn("assay_apply"))
        with Log(self.place.kafka, EVENTS) as log:
            deliveries = [
                Delivery(EVENTS, self.place.topic_id(EVENTS), one.partition, one.offset, one.key, one.value)
                for one in log.records()
            ]
        with open_sync_pool(dsn, 1, 1, "apply") as pool:
            with pool.connection() as connection:
                apply_batch(connection, deliveries, EPOCH)
            sweep = Sweep(pool, lambda: Publisher(self.place.kafka))
            sweep.run()
            sweep.close()
        commit(self.place, EVENTS, "product.apply", {one.partition: one.offset + 1 for one in deliveries})

    def _unread(self) -> list[Origin]:
        topic_id = self.place.topic_id(JOBS)
        with Log(self.place.kafka, JOBS) as log:
            return [
                Origin(topic_id, JOBS, one.partition, one.offset, one.key, one.value, one.headers)
                for one in log.records()
                if one.offset >= self.seen.get(one.partition, 0)
            ]

    async def _send(self, new: NewJob) -> None:
        job = new.job
        headers = message_headers(new.envelope_id, job.schema_version, job.trace_id)
        sent = await self.publisher.send(JOBS, job.tenant_id.encode(), new.message(), headers)
        place = SentJob(job.tenant_id, job.job_id, 1, self.place.topic_id(JOBS), sent.partition, sent.offset)
        async with self.pool.connection() as connection:
            await record_sent(connection, place)


@asynccontextmanager
async def open_pipeline(place: Place) -> AsyncGenerator[Pipeline]:
    """The hops with what they need."""
    threads = ReaderThreads(READER_SECONDS)
    dsn = SecretStr(place.resolver.dsn("assay_stages"))
    async with await open_async_pool(dsn, 1, 2, "stages") as pool, EvidenceStore(place.evidence) as store:
        with Publisher(place.kafka) as publisher:
            announcer = Announcer(publisher, pool, {JOBS: place.topic_id(JOBS)})
            works = (ExtractStage(store, threads), NormalizeStage(pool, threads), IdentityStage())
            handlers = {work.stage: Handler(work, pool, announcer, Slots(None)) for work in works}
            yield Pipeline(place, store, pool, publisher, handlers)
    threads.close()


def commit(place: Place, topic: str, group: str, offsets: Mapping[int, int]) -> None:
    """Move a group's offsets, wherever they were."""
    consumer = make_consumer(place.kafka, group)
    name = physical(place.kafka, topic)
    moved = [TopicPartition(name, partition, offset) for partition, offset in offsets.items()]
    consumer.commit(offsets=moved, asynchronous=False)
    consumer.close()


def _event(tenant_id: str, event_id: UUID, value: bytes) -> Outgoing:
    return Outgoing(EVENTS, tenant_id.encode(), value, message_headers(event_id, "catalog.event/1", None))


def _job_of(shown: Shown) -> ResolutionJob:
    capture_id = new_id("cap")
    artifact = ArtifactRef(
        artifact_id=new_id("art"),
        ref=ref_for(shown.tenant, shown.sha256),  # pyright: ignore[reportArgumentType] - ids are plain in tests
        sha256=shown.sha256,
        media_type="text/html",
        bytes=len(shown.body),
    )
    return ResolutionJob.model_validate(
        {
            "job_id": job_id(capture_id, "extract", 1),
            "stage": "extract",
            "tenant_id": shown.tenant,
            "catalog_id": CATALOG,
            "capture_id": capture_id,
            "receipt_id": new_id("rcpt"),
            "source_id": shown.source,
            "artifacts": (artifact,),
            "pins": Pins(adapter=shown.pin) if shown.pin else None,
            "enqueued_at": timestamp(datetime.now(UTC)),
            "attempt_group": 1,
            "history_epoch": EPOCH,
        }
    )


def _insert_rows(connection: psycopg.Connection[TupleRow], shown: Shown, job: ResolutionJob) -> None:
    artifact = job.artifacts[0]
    values = {
        "tenant": shown.tenant,
        "catalog": CATALOG,
        "source": shown.source,
        "url": shown.url,
        "status": shown.status,
        "pin": shown.pin,
        "capture": job.capture_id,
        "receipt": job.receipt_id,
        "artifact": artifact.artifact_id,
        "sha256": artifact.sha256,
        "bytes": artifact.bytes,
        "digest": hashlib.sha256(shown.body).digest(),
    }
    for statement in _ROWS:
        connection.execute(statement, values)


_ROWS: Iterable[LiteralString] = (
    "INSERT INTO tenant (tenant_id) VALUES (%(tenant)s) ON CONFLICT DO NOTHING",
    "INSERT INTO catalog (tenant_id, catalog_id) VALUES (%(tenant)s, %(catalog)s) ON CONFLICT DO NOTHING",
    "INSERT INTO source (tenant_id, source_id) VALUES (%(tenant)s, %(source)s) ON CONFLICT DO NOTHING",
    "INSERT INTO evidence (tenant_id, sha256, bytes, media_type, state)"
    " VALUES (%(tenant)s, %(sha256)s, %(bytes)s, 'text/html', 'stored') ON CONFLICT DO NOTHING",
    "INSERT INTO capture (tenant_id, capture_id, catalog_id, source_id, url, fetch_status, observed_at, received_at,"
    " pin_adapter) VALUES (%(tenant)s, %(capture)s, %(catalog)s, %(source)s, %(url)s, %(status)s, clock_timestamp(),"
    " clock_timestamp(), %(pin)s)",
    "INSERT INTO artifact (tenant_id, artifact_id, capture_id, ordinal, sha256, media_type, bytes)"
    " VALUES (%(tenant)s, %(artifact)s, %(capture)s, 0, %(sha256)s, 'text/html', %(bytes)s)",
    "INSERT INTO receipt (tenant_id, receipt_id, capture_id, idempotency_key, body_digest, received_at)"
    " VALUES (%(tenant)s, %(receipt)s, %(capture)s, %(capture)s, %(digest)s, clock_timestamp())",
)
