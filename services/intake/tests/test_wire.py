"""Hostile and broken bodies: each gets its answer, none leaves a capture, none is kept in memory."""

import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from .conftest import Starter
from .wire import BOUNDARY, connect, head
from .world import IntakeProcess, Place, Tenant, new_capture, part_end, part_head, post, start_intake, wait_for

CHUNKED = "Transfer-Encoding: chunked"
MEBIBYTE = 1 << 20

_OPEN = f"--{BOUNDARY}\r\n".encode()
_NAME = b'Content-Disposition: form-data; name="metadata"\r\n'
_END = part_end(BOUNDARY)
BROKEN = {
    "empty": b"",
    "text": b"no boundary at all",
    "no part": f"--{BOUNDARY}--\r\n".encode(),
    "half a head": _OPEN + _NAME[:30],
    "no end": _OPEN + _NAME + b"\r\n{}",
    "no name": _OPEN + b"Content-Type: text/html\r\n\r\n" + _END,
    "no form data": _OPEN + b'Content-Disposition: attachment; name="metadata"\r\n\r\n' + _END,
    "two names": _OPEN + _NAME * 2 + b"\r\n" + _END,
    "many headers": _OPEN + b"X: y\r\n" * 9 + b"\r\n" + _END,
    "huge header": _OPEN + b"X: " + b"y" * 5_000 + b"\r\n\r\n" + _END,
    "NUL in a header": _OPEN + b"X\0: y\r\n\r\n" + _END,
}


@pytest.fixture(scope="module")
def frugal(place: Place, folder: Path) -> Iterator[IntakeProcess]:
    """A process with little patience and little room."""
    running = start_intake(place, folder, silence_seconds="0.5", spool_bytes="1000")
    yield running
    assert running.end() == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the frugal process spools."""
    return tmp_path_factory.mktemp("frugal")


def captures(place: Place, tenant: Tenant) -> int:
    return len(place.rows("SELECT 1 FROM capture WHERE tenant_id = %s", tenant.tenant_id))


def metadata_part() -> bytes:
    return part_head("metadata", BOUNDARY) + new_capture(b"").all_parts()[0][1]


def test_body_must_be_multipart(intake: IntakeProcess, tenant: Tenant) -> None:
    answer = httpx.post(f"{intake.url}/v1/captures", json={}, headers=tenant.headers)
    assert (answer.status_code, answer.json()["code"]) == (415, "not_multipart")


@pytest.mark.parametrize("boundary", ["", "; boundary=", f"; boundary={'b' * 71}"], ids=["none", "empty", "long"])
def test_boundary_must_be_usable(intake: IntakeProcess, tenant: Tenant, boundary: str) -> None:
    headers = {**tenant.headers, "Content-Type": f"multipart/form-data{boundary}"}
    answer = httpx.post(f"{intake.url}/v1/captures", content=b"x", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed_multipart")


@pytest.mark.parametrize(
    ("order", "code"),
    [
        ("page-0 metadata page-1", "metadata_not_first"),
        ("metadata page-1 page-0", "unexpected_part"),
        ("metadata page-0 page-0", "unexpected_part"),
        ("metadata page-0", "missing_artifact"),
        ("metadata", "missing_artifact"),
        ("metadata page-0 page-1 page-2", "unexpected_part"),
        ("metadata metadata page-0 page-1", "unexpected_part"),
    ],
)
def test_parts_come_as_the_metadata_lists_them(
    place: Place, intake: IntakeProcess, tenant: Tenant, order: str, code: str
) -> None:
    data = dict(new_capture(b"0", b"1").all_parts())
    parts = [part_head(name, BOUNDARY) + data.get(name, b"more") for name in order.split()]
    answer = post(intake, tenant, b"".join(parts) + part_end(BOUNDARY), BOUNDARY)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert captures(place, tenant) == 0


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
def test_broken_multipart_is_refused(place: Place, intake: IntakeProcess, tenant: Tenant, body: bytes) -> None:
    headers = {**tenant.headers, "Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    answer = httpx.post(f"{intake.url}/v1/captures", content=body, headers=headers)
    assert answer.status_code in {400, 422}
    assert answer.json()["code"] in {"malformed_multipart", "metadata_not_first"}
    assert captures(place, tenant) == 0


def test_endless_parts_are_refused(intake: IntakeProcess, tenant: Tenant) -> None:
    capture = new_capture(*[b"x"] * 20)
    capture.parts += [("more", b"")] * 50
    answer = capture.send(intake, tenant)
    assert (answer.status_code, answer.json()["code"]) in {(413, "too_many_parts"), (422, "unexpected_part")}


@pytest.mark.parametrize("stated", [{"sha256": "0" * 64}, {"bytes": 3}], ids=["sha256", "bytes"])
def test_stated_hash_and_length_must_be_true(
    place: Place, intake: IntakeProcess, tenant: Tenant, stated: dict[str, object]
) -> None:
    capture = new_capture(b"page")
    capture.metadata["artifacts"][0] |= stated
    assert capture.send(intake, tenant).json()["code"] == "artifact_mismatch"
    assert place.rows("SELECT 1 FROM evidence WHERE tenant_id = %s", tenant.tenant_id) == []


def test_artifact_of_exactly_the_limit_is_taken(intake: IntakeProcess, tenant: Tenant) -> None:
    assert new_capture(b"x" * MEBIBYTE).send(intake, tenant).status_code == 201


def test_artifact_over_the_limit_is_refused_while_it_arrives(
    place: Place, intake: IntakeProcess, tenant: Tenant
) -> None:
    with connect(intake) as wire:
        wire.send(head(tenant, CHUNKED))
        wire.chunk(metadata_part() + part_head("page-0", BOUNDARY))
        for _ in range(17):
            wire.chunk(b"x" * (1 << 16))
        answer = wire.answer()
        assert (answer.status, answer.code) == (413, "artifact_too_large")
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["connection"] == "close"
        assert wire.is_closed()
    assert captures(place, tenant) == 0


def test_stated_excess_is_refused_before_a_byte_of_it(intake: IntakeProcess, tenant: Tenant) -> None:
    capture = new_capture(b"x")
    capture.metadata["artifacts"][0]["bytes"] = MEBIBYTE + 1
    assert capture.send(intake, tenant).status_code == 413


def test_client_that_writes_all_before_it_reads_still_learns_why(intake: IntakeProcess, tenant: Tenant) -> None:
    answer = new_capture(b"x" * (3 * MEBIBYTE)).send(intake, tenant)
    assert (answer.status_code, answer.json()["code"]) == (413, "artifact_too_large")


def test_body_over_the_limit_is_refused_by_its_length_alone(intake: IntakeProcess, tenant: Tenant) -> None:
    with connect(intake) as wire:
        wire.send(head(tenant, f"Content-Length: {5 * MEBIBYTE}", "Expect: 100-continue"))
        answer = wire.answer()
        assert (answer.status, answer.code) == (413, "body_too_large")


def test_body_over_the_limit_is_refused_while_it_arrives(intake: IntakeProcess, tenant: Tenant) -> None:
    capture = new_capture(*[b"x" * 900_000] * 5)
    answer = capture.send(intake, tenant)
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    assert answer.headers["content-type"] == "application/problem+json"


def test_stranger_is_refused_before_the_body(intake: IntakeProcess) -> None:
    with connect(intake) as wire:
        wire.send(head(Tenant("ten_none", "assay_none"), f"Content-Length: {MEBIBYTE}", "Expect: 100-continue"))
        assert wire.answer().status == 401


def test_chunked_body_without_end_is_given_up(place: Place, frugal: IntakeProcess, tenant: Tenant) -> None:
    with connect(frugal) as wire:
        wire.send(head(tenant, CHUNKED))
        wire.chunk(metadata_part() + part_head("page-0", BOUNDARY) + part_end(BOUNDARY))
        assert wire.answer().status == 408
    assert captures(place, tenant) == 0


def test_aborted_body_leaves_nothing(place: Place, frugal: IntakeProcess, tenant: Tenant, folder: Path) -> None:
    with connect(frugal) as wire:
        wire.send(head(tenant, f"Content-Length: {MEBIBYTE}"))
        wire.send(metadata_part() + part_head("page-0", BOUNDARY) + b"half")
        wait_for(lambda: spooled(folder))
        wire.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wait_for(lambda: not spooled(folder))
    assert captures(place, tenant) == 0


def test_uploads_share_a_budget(frugal: IntakeProcess, tenant: Tenant, folder: Path) -> None:
    small, large = new_capture(b"x" * 600), new_capture(b"y" * 600)
    with connect(frugal) as wire:
        wire.send(head(tenant, f"Content-Length: {MEBIBYTE}"))
        wire.send(metadata_part() + part_head("page-0", BOUNDARY) + b"z" * 500)
        wait_for(lambda: spooled(folder))
        refused = large.send(frugal, tenant)
        assert (refused.status_code, refused.json()["code"]) == (503, "spool_full")
        assert int(refused.headers["retry-after"]) > 0
    wait_for(lambda: not spooled(folder))
    assert small.send(frugal, tenant).status_code == 201


def test_large_artifact_is_not_held_in_memory(start: Starter, tenant: Tenant) -> None:
    intake = start(max_artifact_bytes=str(128 * MEBIBYTE), max_body_bytes=str(256 * MEBIBYTE))
    new_capture(b"warm").send(intake, tenant)
    before = peak_bytes(intake)
    assert new_capture(bytes(48 * MEBIBYTE)).send(intake, tenant).status_code == 201
    assert peak_bytes(intake) - before < 24 * MEBIBYTE


def spooled(folder: Path) -> list[Path]:
    return [path for path in folder.glob("spool/assay-spool-*/tmp*") if path.stat().st_size]


def peak_bytes(intake: IntakeProcess) -> int:
    status = Path(f"/proc/{intake.process.pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024
