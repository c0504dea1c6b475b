"""What the apply process survives, on real Kafka and Postgres."""

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from assay_cli.stack.databases import Database
from assay_product.apply import DEFECTS_IN_A_ROW, GROUP
from assay_product.deliveries import TOPIC
from assay_runtime.kafka import make_consumer, physical
from confluent_kafka import TopicPartition

from .parts import Broker, Projection, Start, until
from .stories import Story


def _told(products: int = 3) -> Story:
    told = Story()
    for n in range(products):
        told.product(n)
    return told


def _is_complete(projection: Projection, told: Story) -> bool:
    return projection.count("cursor", catalog_id=told.catalog.catalog_id, progress=len(told.events)) == 1


def _committed(broker: Broker) -> int:
    consumer = make_consumer(broker.settings, GROUP)
    name = physical(broker.settings, TOPIC)
    partitions = range(len(consumer.list_topics(name, 10).topics[name].partitions))
    found = consumer.committed([TopicPartition(name, partition) for partition in partitions], 10)
    consumer.close()
    return sum(max(one.offset, 0) for one in found)


def _commit(broker: Broker, offset_of: Callable[[int], int]) -> None:
    """Move the group's committed offsets, as an operator would while nobody consumes."""
    consumer = make_consumer(broker.settings, GROUP)
    name = physical(broker.settings, TOPIC)
    partitions = range(len(consumer.list_topics(name, 10).topics[name].partitions))
    ends = [consumer.get_watermark_offsets(TopicPartition(name, one), 10) for one in partitions]
    offsets = [TopicPartition(name, one, offset_of(ends[one][1])) for one in partitions]
    consumer.commit(offsets=offsets, asynchronous=False)
    consumer.close()


@pytest.mark.parametrize("edge", ["product.before_commit", "product.after_commit", "product.after_offsets"])
def test_kill_between_two_effects(
    edge: str,
    start_apply: Start,
    broker: Broker,
    projection: Projection,
    tmp_path: Path,
) -> None:
    told, log = _told(), tmp_path / "failpoints"
    broker.send(told)
    doomed = start_apply(ASSAY_FAILPOINTS=f"{edge}=stop", ASSAY_FAILPOINT_LOG=str(log), ASSAY_BATCH_EVENTS="5")
    until(lambda: log.exists() and f"taken {edge}" in log.read_text())
    doomed.kill()
    start_apply()
    until(lambda: _is_complete(projection, told))
    assert projection.rows(told.catalog) == told.fold()
    assert projection.count("inbox", outcome="applied") == len(told.events)


def test_a_parked_chain_outlives_the_process(start_apply: Start, broker: Broker, projection: Projection) -> None:
    told = Story()
    told.create("item_1")
    for n in range(8):
        told.name("item_1", f"Kettle {n}")
    broker.send(told, *range(9, 1, -1))
    first = start_apply()
    until(lambda: projection.count("parked") == 8)
    assert first.stop() == 0
    start_apply()
    broker.send(told, 1)
    until(lambda: _is_complete(projection, told))
    assert projection.rows(told.catalog) == told.fold()
    assert projection.count("parked") == 0


def test_reset_offsets_replay_without_a_change(start_apply: Start, broker: Broker, projection: Projection) -> None:
    told = _told()
    broker.send(told)
    first = start_apply()
    until(lambda: _is_complete(projection, told) and _committed(broker) == len(told.events))
    assert first.stop() == 0
    before = projection.rows(told.catalog), projection.cursor(told.catalog)
    _commit(broker, lambda _end: 0)
    start_apply()
    until(lambda: _committed(broker) == len(told.events))
    assert (projection.rows(told.catalog), projection.cursor(told.catalog)) == before


def test_a_commit_that_ran_ahead_of_the_database_harms_nothing(
    start_apply: Start, broker: Broker, projection: Projection
) -> None:
    told = _told()
    broker.send(told)
    _commit(broker, lambda end: end)
    start_apply()
    until(lambda: _is_complete(projection, told))
    assert projection.rows(told.catalog) == told.fold()


def test_a_database_outage_restarts_and_loses_nothing(
    start_apply: Start,
    broker: Broker,
    projection: Projection,
    product_db: Database,
) -> None:
    told = _told()
    broker.send(told, *range(1, 8))
    process = start_apply()
    until(lambda: projection.count("cursor", progress=7) == 1)
    with psycopg.connect(product_db.server.dsn(), autocommit=True) as administrator:
        administrator.execute(f'ALTER DATABASE "{product_db.name}" ALLOW_CONNECTIONS false'.encode())
        administrator.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND application_name <> ''",
            [product_db.name],
        )
        broker.send(told, *range(8, len(told.events) + 1))
        until(lambda: "apply.waits" in process.logged())
        administrator.execute(f'ALTER DATABASE "{product_db.name}" ALLOW_CONNECTIONS true'.encode())
    until(lambda: _is_complete(projection, told))
    assert projection.rows(told.catalog) == told.fold()
    assert process.stop() == 0


def test_poison_reaches_the_dead_letter_topic_untouched(
    start_apply: Start, broker: Broker, projection: Projection
) -> None:
    told = _told()
    broker.send_values(told, b"\xff poison", *told.values)
    start_apply()
    (letter,) = broker.read_dead_letters(1)
    assert letter.value() == b"\xff poison"
    headers = dict(letter.headers() or [])
    assert headers["dlq-reason"] == b"not_utf8"
    assert headers["dlq-offset"] == b"0"
    until(lambda: _is_complete(projection, told))
    assert projection.rows(told.catalog) == told.fold()
    until(lambda: projection.has_published(1))


def test_two_processes_share_the_topic_and_one_may_die(
    start_apply: Start, broker: Broker, projection: Projection
) -> None:
    stories = [Story(f"ten_{n}") for n in range(6)]
    doomed, _ = start_apply(), start_apply()
    for told in stories:
        told.product(1)
        broker.send(told)
    until(lambda: projection.count("inbox") > 0)
    doomed.kill()
    for told in stories:
        told.product(2)
        broker.send(told, *range(6, len(told.events) + 1))
    until(lambda: all(_is_complete(projection, told) for told in stories))
    for told in stories:
        assert projection.rows(told.catalog) == told.fold()


def _refuse_items(product_db: Database, condition: str) -> None:
    """Make the database refuse what this release would write, as a defect would."""
    with psycopg.connect(product_db.admin_dsn) as administrator:
        administrator.execute(f"ALTER TABLE item ADD CONSTRAINT item_refused CHECK ({condition}) NOT VALID".encode())


def test_an_event_that_the_database_refuses_holds_its_own_catalog_only(
    start_apply: Start, broker: Broker, projection: Projection, product_db: Database
) -> None:
    _refuse_items(product_db, "item_id <> 'item_bad'")
    spoiled, sound = Story("ten_a", "cat_spoiled"), Story("ten_a", "cat_sound")
    spoiled.create("item_1")
    spoiled.create("item_bad")
    spoiled.create("item_2")
    sound.product(1)
    broker.send(spoiled)
    broker.send(sound)
    start_apply()
    until(lambda: _is_complete(projection, sound))
    until(lambda: projection.count("cursor", catalog_id="cat_spoiled", progress=1, highest=3, processed=2) == 1)
    assert projection.count("dead_letter", reason="cannot_apply") == 1
    assert projection.rows(sound.catalog) == sound.fold()


def test_a_broken_release_halts_instead_of_dead_lettering_the_topic(
    start_apply: Start, broker: Broker, projection: Projection, product_db: Database
) -> None:
    _refuse_items(product_db, "false")
    told = Story()
    for n in range(40):
        told.create(f"item_{n}")
    broker.send(told)
    process = start_apply()
    until(lambda: process.logged().count("event.cannot_apply") >= DEFECTS_IN_A_ROW)
    assert process.stop() == 0
    assert projection.count("dead_letter") == DEFECTS_IN_A_ROW - 1
    with psycopg.connect(product_db.admin_dsn) as administrator:
        administrator.execute("ALTER TABLE item DROP CONSTRAINT item_refused")
    start_apply()
    until(lambda: projection.count("inbox") == len(told.events) - DEFECTS_IN_A_ROW + 1)
