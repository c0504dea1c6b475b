"""Killed at each edge between two effects: nothing accepted is lost, and a retry gets its receipt."""

import signal
from pathlib import Path

import httpx
import pytest
from assay_runtime.failpoints import EXIT_STATUS

from .conftest import Starter
from .wire import BOUNDARY, connect, head
from .world import IntakeProcess, Place, Tenant, digest, new_capture, part_end, part_head, wait_for

FIRST_RECEIPT = 200
NEW_RECEIPT = 201


def kill_when_stopped(intake: IntakeProcess) -> None:
    status = Path(f"/proc/{intake.process.pid}/status")
    wait_for(lambda: "State:\tT" in status.read_text())
    intake.kill()


@pytest.mark.parametrize(
    ("failpoint", "captures", "after"),
    [
        ("intake.after_put", 0, NEW_RECEIPT),
        ("intake.after_commit", 1, FIRST_RECEIPT),
        ("intake.before_enqueue", 1, FIRST_RECEIPT),
        ("intake.after_enqueue", 1, FIRST_RECEIPT),
    ],
)
def test_kill_at_each_edge_is_healed_by_a_retry(
    place: Place, intake: IntakeProcess, start: Starter, tenant: Tenant, failpoint: str, captures: int, after: int
) -> None:
    victim, capture = start(failpoints=f"{failpoint}=exit"), new_capture(b"a page")
    try:
        assert capture.send(victim, tenant).status_code == NEW_RECEIPT
    except httpx.HTTPError:
        assert victim.process.wait(20) == EXIT_STATUS
    assert victim.process.wait(20) == EXIT_STATUS
    assert len(place.rows("SELECT 1 FROM receipt WHERE tenant_id = %s", tenant.tenant_id)) == captures
    assert place.rows("SELECT sent_offset FROM job WHERE tenant_id = %s", tenant.tenant_id) == [(None,)] * captures
    again = capture.send(intake, tenant)
    assert again.status_code == after
    assert place.rows("SELECT state FROM evidence WHERE tenant_id = %s", tenant.tenant_id) == [("stored",)]
    assert len(place.rows("SELECT 1 FROM job WHERE tenant_id = %s", tenant.tenant_id)) == 1
    evidence = httpx.get(f"{intake.url}/v1/evidence/{digest(b'a page')}", headers=tenant.headers)
    assert evidence.content == b"a page"


def test_sigkill_between_commit_and_answer_keeps_the_capture(
    intake: IntakeProcess, start: Starter, tenant: Tenant
) -> None:
    victim, capture = start(failpoints="intake.after_commit=stop"), new_capture()
    with connect(victim) as wire:
        body = capture.body(BOUNDARY)
        wire.send(head(tenant, f"Content-Length: {len(body)}") + body)
        kill_when_stopped(victim)
        assert wire.is_closed()
    assert capture.send(intake, tenant).status_code == FIRST_RECEIPT


def test_spool_of_a_killed_process_is_removed_by_the_next(start: Starter, tenant: Tenant, tmp_path: Path) -> None:
    victim = start()
    with connect(victim) as wire:
        body = new_capture(b"").body(BOUNDARY).removesuffix(part_end(BOUNDARY))
        wire.send(head(tenant, "Content-Length: 100000") + body + b"half")
        wait_for(lambda: list(tmp_path.glob("spool/*/tmp*")))
        victim.kill()
    assert list(tmp_path.glob("spool/*/tmp*"))
    start()
    assert list(tmp_path.glob("spool/*/tmp*")) == []


def test_stop_lets_the_upload_under_way_finish(place: Place, start: Starter, tenant: Tenant, tmp_path: Path) -> None:
    victim = start()
    with connect(victim) as wire:
        metadata = new_capture(b"").all_parts()[0][1]
        first = part_head("metadata", BOUNDARY) + metadata + part_head("page-0", BOUNDARY) + b"half"
        rest = b" and half" + part_end(BOUNDARY)
        wire.send(head(tenant, f"Content-Length: {len(first) + len(rest)}") + first)
        wait_for(lambda: list(tmp_path.glob("spool/*/tmp*")))
        victim.process.send_signal(signal.SIGTERM)
        wire.send(rest)
        assert wire.answer().status == NEW_RECEIPT
    assert victim.process.wait(30) == 0
    assert place.rows("SELECT sent_offset IS NOT NULL FROM job WHERE tenant_id = %s", tenant.tenant_id) == [(True,)]
