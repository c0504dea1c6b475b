"""A dependency is away: the stage holds its messages, says so, burns no attempt and is restarted by nobody."""

from urllib.parse import urlsplit

import pytest
from confluent_kafka import Producer

from .conftest import Starter, Wire
from .group import lag
from .stage_process import StageProcess
from .tcp_proxy import TcpProxy
from .world import JOBS, Place, capture, new_tenant, wait_for


def _assert_held_and_alive(running: StageProcess) -> None:
    wait_for(lambda: running.events("message.held"), 60)
    wait_for(lambda: not running.is_ready())
    assert running.metrics()["assay_stages_held_messages"] >= 1
    assert running.is_live()


async def test_postgres_away_holds_the_messages(own_place: Place, own_wire: Wire, run_stage: Starter) -> None:
    running = run_stage("extract", dsn=own_wire.dsn)
    wait_for(running.is_ready, 90)
    job = await capture(own_place, new_tenant(own_place))
    own_wire.proxy.cut()
    own_place.send_job(job)
    _assert_held_and_alive(running)
    own_wire.proxy.mend()
    wait_for(lambda: own_place.job(job)["state"] == "done", 60)
    wait_for(running.is_ready)
    assert own_place.job(job)["attempt"] == 1
    assert running.stop() == 0


async def test_evidence_away_holds_the_messages(own_place: Place, run_stage: Starter) -> None:
    where = urlsplit(own_place.evidence.s3_endpoint)
    proxy = TcpProxy(str(where.hostname), int(str(where.port)))
    running = run_stage("extract", s3_endpoint=f"http://127.0.0.1:{proxy.port}")
    wait_for(running.is_ready, 90)
    job = await capture(own_place, new_tenant(own_place))
    proxy.cut()
    own_place.send_job(job)
    _assert_held_and_alive(running)
    row = own_place.job(job)
    assert row["started_at"] is not None
    assert row["ended_at"] is not None, "a kill now would not be this job's fault"
    proxy.mend()
    wait_for(lambda: own_place.job(job)["state"] == "done", 60)
    assert own_place.job(job)["attempt"] == 1
    assert running.stop() == 0
    proxy.close()


async def test_a_stop_does_not_wait_for_a_dependency_that_is_away(
    own_place: Place, own_wire: Wire, run_stage: Starter
) -> None:
    running = run_stage("extract", dsn=own_wire.dsn)
    wait_for(running.is_ready, 90)
    job = await capture(own_place, new_tenant(own_place))
    own_wire.proxy.cut()
    own_place.send_job(job)
    wait_for(lambda: running.events("message.held"), 60)
    assert running.stop() == 0
    assert own_place.job(job)["state"] == "open"
    own_wire.proxy.mend()
    after = run_stage("extract", dsn=own_wire.dsn)
    wait_for(lambda: own_place.job(job)["state"] == "done", 90)
    assert own_place.job(job)["attempt"] == 1
    assert after.stop() == 0


@pytest.mark.timeout(300)
async def test_garbage_becomes_one_dead_letter_each_and_stops_nobody(own_place: Place, run_stage: Starter) -> None:
    tenant = new_tenant(own_place)
    garbage: list[tuple[bytes | None, bytes | None]] = [
        (None, None),
        (None, b"no key"),
        (tenant.encode(), None),
        (b"", b""),
        (b"\xff\xfe", b"\x00\x01"),
        (tenant.encode(), b'{"version":1,"id":"not a uuid","ts":1,"attempt":1,"payload":{"x":1}}'),
    ]
    producer = Producer({"bootstrap.servers": own_place.kafka.kafka_bootstrap})
    for key, value in garbage:
        producer.produce(f"{own_place.kafka.kafka_prefix}{JOBS}", value, key)
    assert producer.flush(15) == 0
    job = await capture(own_place, tenant)
    own_place.send_job(job)
    running = [run_stage(stage) for stage in ("extract", "normalize")]
    wait_for(lambda: own_place.jobs_of(job).get("normalize", ("",))[0] == "done", 120)
    wait_for(lambda: lag(own_place, "extract") == 0, 30)
    letters = own_place.dead_letters()
    assert sorted((bytes_of(one["key"]), bytes_of(one["value"])) for one in letters) == sorted(
        (key or b"", value or b"") for key, value in garbage
    )
    assert [stage.stop() for stage in running] == [0, 0]


def bytes_of(column: object) -> bytes:
    """A bytea column, null as nothing."""
    assert column is None or isinstance(column, bytes)
    return column or b""
