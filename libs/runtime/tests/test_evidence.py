"""Evidence: written once, found again, proved by its digest; on a real S3 server, and on one that misbehaves."""

import asyncio
import base64
import hashlib
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from assay_cli.testing import Bucket
from assay_contracts.ids import TenantId
from assay_runtime import evidence
from assay_runtime.errors import EvidenceMismatch, EvidenceMissing, EvidenceStoreUnfit, EvidenceUnavailable
from assay_runtime.evidence import EvidenceStore, parse_ref, ref_for
from assay_runtime.settings import EvidenceSettings
from pydantic import SecretStr

TENANT = TenantId("ten_a")
PAGE = b"<html>a page</html>"
SHA256 = hashlib.sha256(PAGE).hexdigest()
REF = ref_for(TENANT, SHA256)


def settings_for(endpoint: str, bucket: str) -> EvidenceSettings:
    secret = SecretStr("assay-tests")
    return EvidenceSettings(s3_endpoint=endpoint, s3_bucket=bucket, s3_access_key=secret, s3_secret_key=secret)


@pytest.fixture
async def store(evidence_bucket: Bucket) -> AsyncIterator[EvidenceStore]:
    async with EvidenceStore(settings_for(evidence_bucket.endpoint, evidence_bucket.name)) as store:
        yield store


async def test_bytes_come_back_by_their_ref(store: EvidenceStore) -> None:
    assert await store.put(TENANT, SHA256, PAGE, "text/html")
    assert await store.get(REF) == PAGE


async def test_a_spooled_file_is_streamed_in_and_out(store: EvidenceStore, tmp_path: Path) -> None:
    content = b"0123456789abcdef" * 100_000
    spooled = tmp_path / "spooled"
    spooled.write_bytes(content)
    sha256 = hashlib.sha256(content).hexdigest()
    assert await store.put(TENANT, sha256, spooled, "application/pdf")
    async with store.open(ref_for(TENANT, sha256)) as stream:
        chunks = [chunk async for chunk in stream]
    assert b"".join(chunks) == content
    assert max(map(len, chunks)) <= evidence.CHUNK_BYTES


async def test_an_empty_artifact_is_evidence_too(store: EvidenceStore) -> None:
    sha256 = hashlib.sha256().hexdigest()
    assert await store.put(TENANT, sha256, b"", "text/plain")
    assert await store.get(ref_for(TENANT, sha256)) == b""


async def test_of_many_equal_puts_one_is_new(store: EvidenceStore) -> None:
    answers = await asyncio.gather(*(store.put(TENANT, SHA256, PAGE, "text/html") for _ in range(20)))
    assert sorted(answers) == [False] * 19 + [True]


async def test_tenants_do_not_share_bytes(store: EvidenceStore) -> None:
    await store.put(TENANT, SHA256, PAGE, "text/html")
    assert await store.put("ten_b", SHA256, PAGE, "text/html")
    with pytest.raises(EvidenceMissing):
        await store.get(ref_for(TenantId("ten_c"), SHA256))


async def test_bytes_under_a_wrong_digest_never_leave(store: EvidenceStore) -> None:
    with pytest.raises(EvidenceMismatch):
        await store.put(TENANT, SHA256, b"other bytes", "text/html")
    with pytest.raises(EvidenceMissing):
        await store.get(REF)


@pytest.mark.parametrize("stored", [b"other bytes", PAGE.upper()], ids=["other length", "same length"])
async def test_a_poisoned_name_is_noticed(store: EvidenceStore, evidence_bucket: Bucket, stored: bytes) -> None:
    async with httpx.AsyncClient(base_url=f"{evidence_bucket.endpoint}/{evidence_bucket.name}/") as anyone:
        (await anyone.put(f"{TENANT}/{SHA256}", content=stored)).raise_for_status()
    with pytest.raises(EvidenceMismatch):
        await store.put(TENANT, SHA256, PAGE, "text/html")
    with pytest.raises(EvidenceMismatch):
        await store.get(REF)


async def test_an_honest_store_proves_itself_and_keeps_no_trace(store: EvidenceStore, evidence_bucket: Bucket) -> None:
    await store.prove_conditional_puts()
    async with httpx.AsyncClient() as anyone:
        listing = await anyone.get(f"{evidence_bucket.endpoint}/{evidence_bucket.name}")
    assert evidence.PROOF_PREFIX not in listing.text


async def test_a_missing_bucket_is_an_outage(evidence_bucket: Bucket) -> None:
    async with EvidenceStore(settings_for(evidence_bucket.endpoint, "no-such-bucket")) as store:
        with pytest.raises(EvidenceUnavailable, match="NoSuchBucket"):
            await store.put(TENANT, SHA256, PAGE, "text/html")
        with pytest.raises(EvidenceUnavailable, match="NoSuchBucket"):
            await store.get(REF)


async def test_a_refused_connection_is_an_outage() -> None:
    async with EvidenceStore(settings_for("http://127.0.0.1:1", "evidence")) as store:
        with pytest.raises(EvidenceUnavailable):
            await store.get(REF)


@pytest.mark.parametrize("ref", ["r2://evidence-private/ten_a", f"s3://x/ten_a/{SHA256}", f"{REF}/..", REF.upper()])
def test_other_refs_are_refused(ref: str) -> None:
    with pytest.raises(ValueError, match="not an evidence ref"):
        parse_ref(ref)


class Misbehaving(ThreadingHTTPServer):
    """Answers from a script: a status and headers per request, the last for ever."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: list[tuple[int, dict[str, str]]] = []
        self.asked: list[tuple[str, dict[str, str]]] = []

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        assert isinstance(self.server, Misbehaving)
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.server.asked.append((self.command, {name.lower(): value for name, value in self.headers.items()}))
        script = self.server.script
        status, headers = script.pop(0) if len(script) > 1 else script[0]
        self.send_response(status)
        for name, value in ({"Content-Length": "0"} | headers).items():
            self.send_header(name, value)
        self.end_headers()

    do_PUT = do_GET = do_HEAD = do_DELETE = answer  # noqa: N815 - the names that http.server calls

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def misbehaving() -> Iterator[Misbehaving]:
    server = Misbehaving()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
async def doubtful(misbehaving: Misbehaving, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EvidenceStore]:
    monkeypatch.setattr(evidence, "CONFLICT_PAUSE_SECONDS", 0.001)
    async with EvidenceStore(settings_for(misbehaving.endpoint, "evidence")) as store:
        yield store


async def test_a_store_that_ignores_the_condition_is_refused(doubtful: EvidenceStore, misbehaving: Misbehaving) -> None:
    misbehaving.script = [(200, {})]
    with pytest.raises(EvidenceStoreUnfit):
        await doubtful.prove_conditional_puts()


async def test_a_conflict_is_tried_again(doubtful: EvidenceStore, misbehaving: Misbehaving) -> None:
    misbehaving.script = [(409, {}), (409, {}), (200, {})]
    assert await doubtful.put(TENANT, SHA256, PAGE, "text/html")


async def test_a_conflict_without_end_is_an_outage(doubtful: EvidenceStore, misbehaving: Misbehaving) -> None:
    misbehaving.script = [(409, {})]
    with pytest.raises(EvidenceUnavailable):
        await doubtful.put(TENANT, SHA256, PAGE, "text/html")


@pytest.mark.parametrize("status", [403, 500, 503])
async def test_a_store_that_cannot_serve_is_an_outage(
    doubtful: EvidenceStore, misbehaving: Misbehaving, status: int
) -> None:
    misbehaving.script = [(status, {})]
    with pytest.raises(EvidenceUnavailable):
        await doubtful.put(TENANT, SHA256, PAGE, "text/html")
    with pytest.raises(EvidenceUnavailable):
        await doubtful.get(REF)


async def test_a_put_asks_the_store_to_check_the_digest(doubtful: EvidenceStore, misbehaving: Misbehaving) -> None:
    misbehaving.script = [(200, {})]
    await doubtful.put(TENANT, SHA256, PAGE, "text/html")
    command, headers = misbehaving.asked[0]
    assert command == "PUT"
    assert headers["if-none-match"] == "*"
    assert headers["x-amz-checksum-sha256"] == base64.b64encode(bytes.fromhex(SHA256)).decode()


@pytest.mark.parametrize(("stored", "same"), [(PAGE, True), (PAGE.upper(), False)])
async def test_a_checksum_that_the_store_keeps_spares_a_read(
    doubtful: EvidenceStore, misbehaving: Misbehaving, stored: bytes, same: bool
) -> None:
    checksum = base64.b64encode(hashlib.sha256(stored).digest()).decode()
    kept = {"Content-Length": str(len(stored)), "x-amz-checksum-sha256": checksum}
    misbehaving.script = [(412, {}), (200, kept)]
    if same:
        assert not await doubtful.put(TENANT, SHA256, PAGE, "text/html")
    else:
        with pytest.raises(EvidenceMismatch):
            await doubtful.put(TENANT, SHA256, PAGE, "text/html")
    assert [command for command, _ in misbehaving.asked] == ["PUT", "HEAD"]


async def test_a_store_that_never_answers_is_an_outage(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "CALL_SECONDS", 0.1)
    async with EvidenceStore(settings_for(silent, "evidence")) as store:
        with pytest.raises(EvidenceUnavailable, match="no answer within"):
            await store.put(TENANT, SHA256, PAGE, "text/html")


@pytest.fixture
def silent() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


async def test_a_body_that_breaks_off_is_an_outage(doubtful: EvidenceStore, misbehaving: Misbehaving) -> None:
    misbehaving.script = [(200, {"Content-Length": "1000", "Connection": "close"})]
    with pytest.raises(EvidenceUnavailable):
        await doubtful.get(REF)
