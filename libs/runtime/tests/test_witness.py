"""The witness of one database is found among those of others, however long ago it was written."""

from datetime import UTC, datetime
from uuid import UUID

from assay_contracts.encoder import encode_document
from assay_contracts.timestamps import timestamp
from assay_contracts.topics import topic
from assay_contracts.witness import HistoryWitness
from assay_runtime.kafka import Outgoing, Publisher, ensure_topics
from assay_runtime.settings import KafkaSettings
from assay_runtime.witness import TAIL_RECORDS, TOPIC, Mark, WitnessReader

MINE, OTHER = UUID(int=1), UUID(int=2)


def _record(database: UUID, ordinal: int, clock: int) -> Outgoing:
    document = HistoryWitness(
        database_id=database.hex,
        history_epoch=f"history-{ordinal}",
        ordinal=ordinal,
        clock=clock,
        written_at=timestamp(datetime(2026, 1, 1, tzinfo=UTC)),
    )
    return Outgoing(TOPIC, database.hex.encode(), encode_document(document), [])


def test_the_highest_mark_is_found_behind_a_long_tail_and_followed(kafka_bootstrap: str, kafka_prefix: str) -> None:
    settings = KafkaSettings(kafka_bootstrap=kafka_bootstrap, kafka_prefix=kafka_prefix)
    ensure_topics(settings, [topic(TOPIC)], 1)
    others = [_record(OTHER, 9, clock) for clock in range(TAIL_RECORDS + 10)]
    with Publisher(settings) as publisher:
        publisher.publish_batch([_record(MINE, 1, 7), _record(MINE, 1, 5), *others], 30.0)
        reader = WitnessReader(settings, MINE)
        assert reader.catch_up() == Mark(1, 7, "history-1")
        publisher.publish_batch([_record(MINE, 2, 3), _record(MINE, 1, 9)], 30.0)
        assert reader.catch_up() == Mark(2, 3, "history-2")
        reader.close()


def test_an_epoch_counts_before_a_clock() -> None:
    assert Mark(1, 900, "a").is_behind(Mark(2, 1, "b"))
    assert not Mark(2, 1, "b").is_behind(Mark(1, 900, "a"))
    assert not Mark(1, 5, "a").is_behind(Mark(1, 5, "a"))
