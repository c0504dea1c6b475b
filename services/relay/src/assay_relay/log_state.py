"""What Kafka says about the job topic: its id, where its log begins and ends, how far each stage's group has read."""

from collections.abc import Iterator, Mapping
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


Place = tuple[str, int]
"""A stage and a partition."""
PLACES: tuple[Place, ...] = tuple((stage, partition) for stage in STAGES for partition in range(JOB.partitions))


@dataclass(frozen=True, slots=True)
class LogState:
    """The job topic at one moment. `committed` holds offsets only where a stage's group has committed one."""

    topic_id: UUID
    begins: Mapping[int, int]
    ends: Mapping[int, int]
    committed: Mapping[Place, int]

    def past(self, reach: Mapping[Place, int]) -> list[Past]:
        """Where an open job's message is of no use any more; what a group has yet to read is in none of them.

        `reach` is the highest recorded offset of each place, looked up before this state was read: what is recorded
        above the log's end by then was lost, while what is recorded later may simply be newer than this state.
        """
        found: list[Past] = []
        for stage, partition in PLACES:
            begin, end = self.begins[partition], self.ends[partition]
            found.append(Past("expired", stage, partition, 0, begin))
            found.append(Past("passed", stage, partition, begin, self.committed.get((stage, partition), 0)))
            found.append(Past("log_lost", stage, partition, end, reach.get((stage, partition), -1) + 1))
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
        self._consumers = {stage: make_consumer(settings, f"stage.{stage}") for stage in STAGES}

    def topic_id(self) -> UUID | None:
        """The id of the topic that has the name now; None if there is none."""
        return topic_ids(self._settings, [JOB.name]).get(JOB.name)

    def read(self, topic_id: UUID) -> LogState:
        """The topic's state. Groups first: what one has passed by then is over, or its job would not be open later."""
        try:
            committed = {place: offset for stage in STAGES for place, offset in self._committed(stage)}
            begins = self._offsets(OffsetSpec.earliest())
            return LogState(topic_id, begins, self._offsets(OffsetSpec.latest()), committed)
        except KafkaException as error:
            raise KafkaUnavailable(str(error)) from error

    def close(self) -> None:
        """Let go of the connections."""
        for consumer in self._consumers.values():
            consumer.close()

    def _committed(self, stage: str) -> Iterator[tuple[Place, int]]:
        """Asked by a consumer that never joins its group.

        The admin client's own call ends the process by SIGSEGV (confluent-kafka 2.16.1) when the broker asked is not,
        or not yet, the group's coordinator.
        """
        for part in self._consumers[stage].committed(self._partitions(), timeout=REQUEST_SECONDS):
            if part.offset >= 0:
                yield (stage, part.partition), part.offset

    def _offsets(self, spec: object) -> dict[int, int]:
        wanted = dict.fromkeys(self._partitions(), spec)
        answers = self._admin.list_offsets(wanted, request_timeout=REQUEST_SECONDS)
        return {part.partition: answer.result().offset for part, answer in answers.items()}

    def _partitions(self) -> list[TopicPartition]:
        return [TopicPartition(self._topic, partition) for partition in range(JOB.partitions)]
