"""Copies of the world's topics and bucket, for wrongs that cannot be rolled back."""

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from assay_cli.check import Sources
from assay_cli.check.log import EVENTS, JOBS, Log, Record, topic_id_of
from assay_cli.check.sources import Offsets
from assay_runtime.evidence import EvidenceStore
from assay_runtime.kafka import make_producer, physical
from assay_runtime.settings import EvidenceSettings, KafkaSettings

from .place import USED, Place, make_topics

Edit = Callable[[str, list[Record]], list[Record]]
"""Of a topic's name and records, in the order of each partition, the records that its copy gets."""


@dataclass(frozen=True)
class Topics:
    """Topics with another prefix and other ids."""

    kafka: KafkaSettings
    ids: dict[str, tuple[str, str]]

    def adopt(self, sources: Sources) -> None:
        """Let the databases speak of these topics."""
        for name, (before, after) in self.ids.items():
            change = {"before": before, "after": after}
            if name == JOBS:
                sources.resolver.execute(
                    "UPDATE job SET sent_topic_id = %(after)s WHERE sent_topic_id = %(before)s", change
                )
            for connection in (sources.resolver, sources.product):
                connection.execute("UPDATE dead_letter SET topic_id = %(after)s WHERE topic_id = %(before)s", change)
            sources.product.execute("UPDATE kafka_offset SET topic_id = %(after)s WHERE topic_id = %(before)s", change)


def copy_topics(world: Place, edit: Edit) -> Topics:
    """Every record at the same place as in the world, or as the edit has it."""
    kafka = make_topics(world.kafka.kafka_bootstrap, f"copy-{uuid.uuid4().hex}.")
    ids = {name: (str(world.topic_id(name)), str(topic_id_of(kafka, name))) for name in (JOBS, EVENTS)}
    for name in USED:
        with Log(world.kafka, name) as log:
            records = edit(name, sorted(log.records(), key=lambda record: (record.partition, record.offset)))
        append(kafka, name, (_renamed(record, ids) for record in records))
    return Topics(kafka, ids)


def append(kafka: KafkaSettings, topic: str, records: Iterable[Record]) -> None:
    """Put records into the partitions that they name."""
    producer = make_producer(kafka)
    for record in records:
        producer.produce(
            physical(kafka, topic),
            record.value,
            record.key,
            partition=record.partition,
            headers=list(record.headers),
        )
    assert producer.flush(30) == 0


def _renamed(record: Record, ids: dict[str, tuple[str, str]]) -> Record:
    """A dead letter's copy tells the id of the topic that it came from."""
    names = {before.encode(): after.encode() for before, after in ids.values()}
    headers = [(name, names.get(value, value) if value is not None else None) for name, value in record.headers]
    return replace(record, headers=headers)


def everything_read(kafka: KafkaSettings) -> Offsets:
    """Offsets of groups that have read all that is there."""
    with Log(kafka, JOBS) as jobs:
        stages = {record.partition: record.offset + 1 for record in jobs.records()}
    return Offsets(dict.fromkeys(("extract", "normalize", "identity"), stages), {})


async def copy_bucket(world: Place, evidence: EvidenceSettings) -> None:
    """Every object of the world under its name."""
    async with EvidenceStore(world.evidence) as source, EvidenceStore(evidence) as target:
        async for key in source.keys():
            tenant, sha256 = key.split("/")
            body = await source.get(f"r2://evidence-private/{key}")
            await target.put(tenant, sha256, body, "text/html")
