"""The next history epoch is above all that the witness has seen, begins with what is accepted, and keeps open work."""

import asyncio
import json
from datetime import UTC, datetime
from http import HTTPStatus

import pytest
from assay_cli.advancing import advance
from assay_cli.errors import CommandError
from assay_cli.testing import Bucket
from assay_contracts.encoder import encode_document
from assay_contracts.timestamps import timestamp
from assay_contracts.witness import HistoryWitness
from assay_resolver.epochs import Epoch
from assay_runtime.kafka import Outgoing, Publisher
from assay_runtime.settings import EvidenceSettings, KafkaSettings

from .api_world import Api
from .jobs_world import Jobs
from .world import TopicLog

A = "/v1/streams/ten_a/cat_a"


def _bucket(bucket: Bucket) -> EvidenceSettings:
    return EvidenceSettings.model_validate(
        {name.removeprefix("ASSAY_").lower(): value for name, value in bucket.settings.items()}
    )


async def _advance(api: Api, kafka: KafkaSettings, bucket: Bucket) -> Epoch:
    dsn = api.retained.database.dsn("assay_operator")
    return await asyncio.to_thread(advance, dsn, kafka, _bucket(bucket), "a restore", lambda _: None)


def _witness(api: Api, topic_log: TopicLog, ordinal: int) -> None:
    """What a relay wrote before the database was restored."""
    row = api.retained.outbox.connection.execute("SELECT database_id FROM history_clock").fetchone()
    assert row is not None
    record = HistoryWitness(
        database_id=row[0].hex,
        history_epoch=f"history-{ordinal}",
        ordinal=ordinal,
        clock=1_000,
        written_at=timestamp(datetime.now(UTC)),
    )
    with Publisher(topic_log.settings) as publisher:
        publisher.publish_batch(
            [Outgoing("history.witness.v1", row[0].hex.encode(), encode_document(record), [])], 30.0
        )


async def test_the_next_epoch_begins_with_what_is_accepted_at_position_zero(
    api: Api, topic_log: TopicLog, evidence_bucket: Bucket
) -> None:
    stream = api.retained.stream()
    api.item(stream, "item_a")
    api.item(stream, "item_b")
    api.item(stream, "item_a", retired=True)
    assert (await _advance(api, topic_log.settings, evidence_bucket)).name == "history-2"
    service = api.service()
    assert [(one["name"], one["state"]) for one in (await service.get("/v1/epochs")).json()["epochs"]] == [
        ("history-1", "closed"),
        ("history-2", "open"),
    ]
    genesis = (await service.get(f"{A}/snapshots", params={"position": 0})).json()
    assert (genesis["history_epoch"], genesis["is_genesis"], genesis["facts"]) == ("history-2", True, 2)
    head, *facts = (await service.get(f"{A}/snapshots/0")).text.splitlines()
    assert (json.loads(head)["history_epoch"], json.loads(head)["position"]) == ("history-2", 0)
    assert {(one["aggregate"]["id"], one["revision"]) for one in map(json.loads, facts)} == {
        ("item_a", 2),
        ("item_b", 1),
    }
    certificate = (await service.get(f"{A}/certificate")).json()
    assert (certificate["position"], certificate["digest"]) == (0, genesis["digest"])
    events = await service.get(f"{A}/events", params={"epoch": "history-1"})
    assert [one["position"] for one in events.json()["events"]] == [1, 2, 3]


async def test_an_epoch_that_only_the_witness_remembers_is_not_used_again(
    api: Api, topic_log: TopicLog, evidence_bucket: Bucket
) -> None:
    _witness(api, topic_log, 4)
    assert await _advance(api, topic_log.settings, evidence_bucket) == Epoch(5, "history-5", "open")


async def test_open_work_goes_on_in_the_new_epoch_and_done_work_keeps_its_own(
    api: Api, topic_log: TopicLog, evidence_bucket: Bucket
) -> None:
    jobs = Jobs(api.retained.database.admin_dsn)
    open_job, done_job = jobs.add(), jobs.add()
    jobs.finish(done_job)
    await _advance(api, topic_log.settings, evidence_bucket)
    rows = jobs.connection.execute("SELECT job_id, history_epoch, payload, sent_offset FROM job").fetchall()
    found = {job_id: (epoch, json.loads(payload)["history_epoch"], sent) for job_id, epoch, payload, sent in rows}
    assert found == {open_job: ("history-2", "history-2", None), done_job: ("history-1", "history-1", None)}
    jobs.connection.close()


async def test_without_a_witness_to_read_nothing_is_closed(
    api: Api, kafka_bootstrap: str, kafka_prefix: str, evidence_bucket: Bucket
) -> None:
    with pytest.raises(CommandError, match="the witness cannot be read"):
        await _advance(api, KafkaSettings(kafka_bootstrap=kafka_bootstrap, kafka_prefix=kafka_prefix), evidence_bucket)
    epochs = (await api.service().get("/v1/epochs")).json()["epochs"]
    assert [one["state"] for one in epochs] == ["open"]


async def test_an_advance_that_broke_off_is_taken_up_again(
    api: Api, topic_log: TopicLog, evidence_bucket: Bucket
) -> None:
    api.item(api.retained.stream(), "item_a")
    broken = EvidenceSettings.model_validate({**_bucket(evidence_bucket).model_dump(), "s3_bucket": "t-no-such-bucket"})
    dsn = api.retained.database.dsn("assay_operator")
    with pytest.raises(Exception, match=r"NoSuchBucket|404"):
        await asyncio.to_thread(advance, dsn, topic_log.settings, broken, "a restore", lambda _: None)
    service = api.service()
    assert [one["state"] for one in (await service.get("/v1/epochs")).json()["epochs"]] == ["closed"]
    assert (await service.get(f"{A}/events")).status_code == HTTPStatus.NOT_FOUND
    assert (await _advance(api, topic_log.settings, evidence_bucket)).name == "history-2"
