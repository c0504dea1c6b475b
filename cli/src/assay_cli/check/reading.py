"""Pages of a topic's records with what each of them says, without those that a consumer gave up on."""

from collections.abc import Iterator, Sequence
from typing import Final
from uuid import UUID

from assay_contracts.decoder import check_key, decode
from assay_contracts.errors import InvalidMessage
from assay_contracts.messages import CatalogEvent, ResolutionJob
from assay_runtime import sql

from assay_cli.check.log import Log, Record
from assay_cli.check.sources import Connection, pages
from assay_cli.check.violations import Violation, found

_SQL: Final = sql.load("assay_cli", "check_letters")


def read_pages(log: Log, topic_id: UUID, keeper: Connection) -> Iterator[Sequence[Record]]:
    """keeper: the database where this topic's consumers keep their dead letters."""
    for page in pages(log.records()):
        wanted = {
            "topic_id": topic_id,
            "partitions": [record.partition for record in page],
            "offsets": [record.offset for record in page],
        }
        kept = {(partition, offset) for partition, offset in keeper.execute(_SQL["find_kept"], wanted)}
        yield [record for record in page if (record.partition, record.offset) not in kept]


def is_readable(topic: str, record: Record) -> bool:
    """Whether a consumer would take the record's bytes and key."""
    try:
        check_key(topic, record.key, decode(topic, record.value).payload)
    except InvalidMessage:
        return False
    return True


class Keys:
    """I11: a readable message goes under its own tenant's key, and one tenant to one partition."""

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self._partitions: dict[str, int] = {}

    def check(self, record: Record, payload: ResolutionJob | CatalogEvent) -> Iterator[Violation]:
        """Judge one record of the topic."""
        if record.key != payload.tenant_id.encode():
            yield found("i11_key_of_another_tenant", f"{self._topic} {record.name}")
        elif self._partitions.setdefault(payload.tenant_id, record.partition) != record.partition:
            yield found("i11_tenant_on_two_partitions", f"{self._topic} {record.name}")


def check_partitions(log: Log) -> Iterator[Violation]:
    """A topic's partition count is final: with more of them, a tenant's later messages go elsewhere."""
    if not log.has_its_partitions:
        yield found("i5_partition_count_changed", f"{log.topic} has {len(log.begins)}")
