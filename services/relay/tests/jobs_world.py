"""Job rows and dead letters as intake and the stages leave them behind."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID, uuid4

import psycopg
from assay_contracts.ids import ArtifactId, CaptureId, CatalogId, JobId, ReceiptId, SourceId, TenantId, new_id
from assay_contracts.job import ArtifactRef, ResolutionJob
from assay_relay.log_state import LogReader
from assay_relay.store import SweepStore
from assay_relay.sweep import Sweeper
from assay_runtime.errors import KafkaUnavailable
from assay_runtime.kafka import Publisher
from confluent_kafka import Consumer, TopicPartition
from psycopg.rows import TupleRow
from pydantic import SecretStr

from .world import EPOCH, TopicLog, wait_until

JOBS = "resolution.job.v1"
T = TypeVar("T")
SHA256 = "0" * 64


@dataclass
class Jobs:
    """Makes job rows in one database and looks at them."""

    admin_dsn: str
    connection: psycopg.Connection[TupleRow] = field(init=False)

    def __post_init__(self) -> None:
        self.connection = psycopg.connect(self.admin_dsn, autocommit=True)

    def add(self, stage: str = "extract", tenant: str = "ten_a", due_ago: float = 10.0) -> str:
        """An open job, due so many seconds ago, that nobody has sent; returns its id."""
        capture = CaptureId(new_id("cap"))
        self._add_capture(tenant, capture)
        job = _payload(tenant, capture, stage)
        self.connection.execute(
            "INSERT INTO job (tenant_id, job_id, capture_id, stage, attempt_group, history_epoch, envelope_id,"
            " envelope_ts, payload, due_at)"
            " VALUES (%s, %s, %s, %s, 1, %s, %s, 1700000000, %s, clock_timestamp() - make_interval(secs => %s))",
            [tenant, job.job_id, capture, stage, EPOCH, uuid4(), job.model_dump_json().encode(), due_ago],
        )
        return job.job_id

    def place(self, job_id: str) -> tuple[UUID, int, int] | None:
        """Where its message was put."""
        row = self.connection.execute(
            "SELECT sent_topic_id, sent_partition, sent_offset FROM job WHERE job_id = %s AND sent_offset IS NOT NULL",
            [job_id],
        ).fetchone()
        return None if row is None else (UUID(str(row[0])), int(row[1]), int(row[2]))

    def retry(self, job_id: str) -> None:
        """The stage failed for now: the next attempt is due at once, with the sweeper's grace behind it."""
        self.connection.execute(
            "UPDATE job SET attempt = attempt + 1, due_at = clock_timestamp() - interval '10 s',"
            " sent_topic_id = NULL, sent_partition = NULL, sent_offset = NULL WHERE job_id = %s",
            [job_id],
        )

    def put(self, job_id: str, topic_id: UUID, partition: int, offset: int) -> None:
        """Say that its message lies there."""
        self.connection.execute(
            "UPDATE job SET sent_topic_id = %s, sent_partition = %s, sent_offset = %s WHERE job_id = %s",
            [topic_id, partition, offset, job_id],
        )

    def finish(self, job_id: str) -> None:
        """The job is done."""
        self.connection.execute("UPDATE job SET state = 'done', outcome = 'ok' WHERE job_id = %s", [job_id])

    def add_letter(self, key: bytes | None, value: bytes | None, headers: str, offset: int = 0) -> None:
        """A record that a stage gave up on."""
        self.connection.execute(
            'INSERT INTO dead_letter (topic_id, partition, "offset", topic, reason, cause, key, value, headers)'
            " VALUES (%s, 3, %s, %s, 'not_json', 'nobody can read it', %s, %s, %s)",
            [UUID(int=7), offset, JOBS, key, value, headers],
        )

    def unpublished_letters(self) -> int:
        """Dead letters that are on no topic."""
        row = self.connection.execute("SELECT count(*) FROM dead_letter WHERE published_at IS NULL").fetchone()
        assert row is not None
        return int(row[0])

    def _add_capture(self, tenant: str, capture: str) -> None:
        run = self.connection.execute
        run("INSERT INTO tenant (tenant_id) VALUES (%s) ON CONFLICT DO NOTHING", [tenant])
        run("INSERT INTO catalog (tenant_id, catalog_id) VALUES (%s, 'cat_a') ON CONFLICT DO NOTHING", [tenant])
        run("INSERT INTO source (tenant_id, source_id) VALUES (%s, 'src_a') ON CONFLICT DO NOTHING", [tenant])
        run(
            "INSERT INTO capture (tenant_id, capture_id, catalog_id, source_id, url, fetch_status, observed_at,"
            " received_at) VALUES (%s, %s, 'cat_a', 'src_a', 'https://shop.example/', 200, now(), now())",
            [tenant, capture],
        )


def _payload(tenant: str, capture: CaptureId, stage: str) -> ResolutionJob:
    artifact = ArtifactRef(
        artifact_id=ArtifactId(new_id("art")),
        ref=f"r2://evidence-private/{tenant}/{SHA256}",
        sha256=SHA256,
        media_type="text/html",
        bytes=10,
    )
    return ResolutionJob.model_validate(
        {
            "job_id": JobId(f"{capture}:{stage}:1"),
            "stage": stage,
            "tenant_id": TenantId(tenant),
            "catalog_id": CatalogId("cat_a"),
            "capture_id": capture,
            "receipt_id": ReceiptId(new_id("rcpt")),
            "source_id": SourceId("src_a"),
            "artifacts": (artifact,),
            "pins": None,
            "enqueued_at": "2026-01-01T00:00:00Z",
            "attempt_group": 1,
            "history_epoch": EPOCH,
        }
    )


def patiently(ask: Callable[[], T]) -> T:
    """The answer, as soon as the broker leads the partitions of a topic that was just made."""
    answers: list[T] = []

    def asked() -> bool:
        with contextlib.suppress(KafkaUnavailable):
            answers.append(ask())
        return bool(answers)

    wait_until(asked, "the broker leads the topic's partitions")
    return answers[0]


class Sweep:
    """One sweeper, turned by hand."""

    def __init__(self, dsn: str, log: TopicLog, publisher: Publisher, claim_seconds: float = 30.0) -> None:
        self.store = SweepStore(SecretStr(dsn), 100, claim_seconds, 2.0)
        self.reader = LogReader(log.settings)
        self._sweeper = Sweeper(publisher)

    def close(self) -> None:
        """Let go of the connections."""
        self.store.close()
        self.reader.close()

    def topic_id(self) -> UUID:
        """What Kafka says now."""
        topic_id = self.reader.topic_id()
        assert topic_id is not None
        return topic_id

    def turn(self) -> int:
        """One whole round; how many jobs it claimed."""
        topic_id = self.topic_id()
        unsent = self._sweeper.send_unsent(self.store, topic_id)
        return unsent + patiently(lambda: self._sweeper.send_lost(self.store, self.reader, topic_id))


def commit_offset(log: TopicLog, stage: str, partition: int, offset: int) -> None:
    """The stage's group has read up to there."""
    prefix = log.settings.kafka_prefix
    consumer = Consumer({"bootstrap.servers": log.settings.kafka_bootstrap, "group.id": f"{prefix}stage.{stage}"})
    consumer.commit(offsets=[TopicPartition(prefix + JOBS, partition, offset)], asynchronous=False)
    consumer.close()
