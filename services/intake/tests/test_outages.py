"""A dependency is away: an honest 503 and nothing lost, or, where nobody need wait for it, no difference at all."""

import re
from collections.abc import Callable

import pytest

from .conftest import Starter
from .proxy import Proxy
from .world import IntakeProcess, Place, Tenant, new_capture, wait_for


def port_of(address: str) -> int:
    found = re.search(r":(\d+)(/|$)", address)
    assert found is not None
    return int(found.group(1))


def through(proxy: Proxy, address: str) -> str:
    return address.replace(f":{port_of(address)}", f":{proxy.port}")


def closed_port() -> int:
    with Proxy(0) as proxy:
        return proxy.port


@pytest.mark.parametrize("setting", ["dsn", "s3_endpoint"])
def test_outage_is_a_503_and_the_retry_is_accepted(place: Place, start: Starter, tenant: Tenant, setting: str) -> None:
    address = place.environment[f"ASSAY_{setting.upper()}"]
    with Proxy(port_of(address)) as proxy:
        intake, capture = start(**{setting: through(proxy, address)}), new_capture()
        proxy.refuse(True)
        refused = capture.send(intake, tenant)
        assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
        assert int(refused.headers["retry-after"]) > 0
        assert place.rows("SELECT 1 FROM capture WHERE tenant_id = %s", tenant.tenant_id) == []
        proxy.refuse(False)
        assert wait_for(_accepted(lambda: capture.send(intake, tenant).status_code), 30) == 201
        assert intake.process.poll() is None


def test_lost_answer_to_commit_is_healed_by_a_retry(place: Place, start: Starter, tenant: Tenant) -> None:
    address = place.environment["ASSAY_DSN"]
    with Proxy(port_of(address)) as proxy:
        intake, capture = start(dsn=through(proxy, address)), new_capture()
        proxy.lose_answer(after=b"INSERT INTO receipt", to=b"COMMIT")
        unknown = capture.send(intake, tenant)
        assert proxy.lost.is_set()
        assert (unknown.status_code, unknown.json()["code"]) == (503, "unavailable")
        wait_for(lambda: place.rows("SELECT 1 FROM receipt WHERE tenant_id = %s", tenant.tenant_id))
        assert capture.send(intake, tenant).status_code == 200
        assert len(place.rows("SELECT 1 FROM capture WHERE tenant_id = %s", tenant.tenant_id)) == 1


def test_client_does_not_wait_for_a_broker_that_is_away(place: Place, start: Starter, tenant: Tenant) -> None:
    intake = start(kafka_bootstrap=f"127.0.0.1:{closed_port()}")
    assert new_capture().send(intake, tenant).status_code == 201
    assert not left_to_the_sweeper(intake)
    assert place.rows("SELECT sent_offset, attempt, state FROM job WHERE tenant_id = %s", tenant.tenant_id) == [
        (None, 1, "open")
    ]
    wait_for(lambda: left_to_the_sweeper(intake))
    assert intake.end() == 0


def left_to_the_sweeper(intake: IntakeProcess) -> bool:
    return any(event["event"] == "enqueue.left" for event in intake.events())


def _accepted(send: Callable[[], int]) -> Callable[[], int | None]:
    def answer() -> int | None:
        status = send()
        return None if status == 503 else status

    return answer
