"""What Kafka says about the job topic: its id, where its log begins and ends, how far each stage's group has read."""

from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol, cast, get_args
from uuid import UUID

from assay_contracts.ids import Stage
from assay_contracts.topics import topic_of
from assay_runtime.errors import KafkaUnavailable
from assay_runtime.kafka import make_consumer, physical, topic_ids
from assay_runtime.settings import KafkaSettings
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    OffsetSpec,  # pyright: ignore[reportPrivateImportUsage] - documented there
)
from confluent_kafka.admin import ListOffsetsResultInfo as Offset  # pyright: ignore[reportPrivateImportUsage] - documented there

from assay_relay.store import Past

JOB = topic_of("resolution.job.v1")
STAGES: tuple[str, ...] = get_args(Stage)
REQUEST_SECONDS = 10.0
LAST_OFFSET = 2**63 - 1


@dataclass(frozen=True, slots=True)
class LogState:
    """The job topic at one moment. `committed` holds, per stage that has a group, its offsets by partition."""

    topic_id: UUID
    begins: Mapping[int, int]
    ends: Mapping[int, int]
    committed: Mapping[str, Mapping[int, int]]

    def past(self) -> list[Past]:
        """Where an open job's message is of no use any more; what a group has yet to read is in none of them."""
        found: list[Past] = []
        for stage in STAGES:
            for partition, end in self.ends.items():
                begin = self.begins[partition]
                passed = self.committed.get(stage, {}).get(partition, 0)
                found.append(Past("expired", stage, partition, 0, begin))
                found.append(Past("passed", stage, partition, begin, passed))
                found.append(Past("log_lost", stage, partition, end, LAST_OFFSET))
        return [past for past in found if past.low < past.high]


class _Admin(Protocol):
    """The call of AdminClient, typed where confluent_kafka leaves its futures open."""

    def list_offsets(
        self, topic_partition_offsets: Mapping[TopicPartition, object], *, request_timeout: float
    ) -> Mapping[TopicPartition, Future[Offset]]: ...


class LogReader:
    """Asks the broker; KafkaUnavailable when it does not answer."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._topic = physical(settings, JOB.name)
        self._admin = cast("_Admin", AdminClient({"bootstrap.servers": settings.kafka_bootstrap}))

    def read(self) -> LogState | None:
        """The topic's state; None if there is no such topic. Groups first: whatever is passed is then over for good."""
        try:
            topic_id = topic_ids(self._settings, [JOB.name]).get(JOB.name)
            if topic_id is None:
                return None
            committed = {stage: self._committed(stage) for stage in STAGES}
            begins = self._offsets(OffsetSpec.earliest())
            return LogState(topic_id, begins, self._offsets(OffsetSpec.latest()), committed)
        except KafkaException as error:
            raise KafkaUnavailable(str(error)) from error

    def _committed(self, stage: str) -> dict[int, int]:
        """Asked by a consumer that never joins its group.

        The admin client's own call ends the process by SIGSEGV (confluent-kafka 2.16.1) when the broker asked is not,
        or not yet, the group's coordinator.
        """
        consumer = make_consumer(self._settings, f"stage.{stage}")
        try:
            found = consumer.committed(list(self._partitions()), timeout=REQUEST_SECONDS)
        finally:
            consumer.close()
        return {part.partition: part.offset for part in found if part.offset >= 0}

    def _offsets(self, spec: object) -> dict[int, int]:
        wanted = dict.fromkeys(self._partitions(), spec)
        answers = self._admin.list_offsets(wanted, request_timeout=REQUEST_SECONDS)
        return {part.partition: answer.result().offset for part, answer in answers.items()}

    def _partitions(self) -> Iterable[TopicPartition]:
        return (TopicPartition(self._topic, partition) for partition in range(JOB.partitions))
