"""What intake's tests stand on: the real process over real parts, tenants of their own, and captures to hand in."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, TypeVar

import httpx
import psycopg
from assay_cli.stack.databases import Database
from assay_runtime import keys
from pydantic import SecretStr

PEPPER = "pepper-of-the-intake-tests"
START_SECONDS = 40.0
SCOPES = ("captures:write", "captures:read", "evidence:read")

Part = tuple[str, bytes]
_T = TypeVar("_T")


@dataclass(frozen=True)
class Place:
    """One database, bucket and prefix, and the environment that leads a process to them."""

    database: Database
    environment: Mapping[str, str]

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Rows past all row level security."""
        with psycopg.connect(self.database.admin_dsn) as connection:
            return connection.execute(statement.encode(), values).fetchall()

    def run(self, statement: str, *values: object) -> None:
        """Change something behind intake's back."""
        with psycopg.connect(self.database.admin_dsn, autocommit=True) as connection:
            connection.execute(statement.encode(), values)


@dataclass(frozen=True)
class Tenant:
    """A tenant with one catalog, one source and one key."""

    tenant_id: str
    key: str
    catalog_id: str = "cat_main"
    source_id: str = "src_shop"

    @property
    def headers(self) -> dict[str, str]:
        """Who is asking."""
        return {"Authorization": f"Bearer {self.key}"}


@dataclass
class IntakeProcess:
    """`python -m assay_intake api`, alive until stopped or killed."""

    process: subprocess.Popen[bytes]
    log_path: Path
    log: IO[bytes]
    port: int = field(default=0)

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def ops_url(self) -> str:
        """Where its metrics and health are."""
        port = next(event["port"] for event in self.events() if event["event"] == "process.started")
        return f"http://127.0.0.1:{port}"

    def events(self) -> list[dict[str, Any]]:
        """Its log lines so far."""
        lines = self.log_path.read_text().rpartition("\n")[0].splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def kill(self) -> None:
        """SIGKILL, and wait for the end."""
        self.end(signal.SIGKILL)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal, wait for the end, and return the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(30)
        self.log.close()
        return status


def start_intake(place: Place, folder: Path, **settings: str) -> IntakeProcess:
    """Start the process with these settings over the place's and wait until it listens."""
    log_path = folder / f"intake-{uuid.uuid4().hex}.log"
    log = log_path.open("wb")
    environment = {**os.environ, **place.environment, "ASSAY_SPOOL_DIR": str(folder / "spool")}
    environment |= {f"ASSAY_{name.upper()}": value for name, value in settings.items()}
    command = [sys.executable, "-m", "assay_intake", "api"]
    running = IntakeProcess(subprocess.Popen(command, env=environment, stderr=log), log_path, log)
    running.port = wait_for(lambda: _listening_port(running), START_SECONDS)
    return running


def _listening_port(running: IntakeProcess) -> int | None:
    if running.process.poll() is not None:
        raise AssertionError(f"intake ended at once:\n{running.log_path.read_text()}")
    return next((event["port"] for event in running.events() if event["event"] == "http.listening"), None)


def wait_for(condition: Callable[[], _T | None], seconds: float = 15.0) -> _T:
    """The condition's first answer that is true, within the deadline."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError("the condition did not come true in time")


def new_tenant(place: Place, scopes: tuple[str, ...] = SCOPES) -> Tenant:
    """A tenant that no other test knows."""
    tenant_id = f"ten_{uuid.uuid4().hex}"
    place.run("INSERT INTO tenant (tenant_id) VALUES (%s)", tenant_id)
    place.run("INSERT INTO catalog (tenant_id, catalog_id) VALUES (%s, 'cat_main')", tenant_id)
    place.run(
        "INSERT INTO source (tenant_id, source_id) VALUES (%s, 'src_shop'), (%s, 'src_people')", tenant_id, tenant_id
    )
    return Tenant(tenant_id, new_key(place, tenant_id, scopes))


def new_key(place: Place, tenant_id: str, scopes: tuple[str, ...]) -> str:
    """The text of a key that was just minted for the tenant."""
    minted = keys.mint(SecretStr(PEPPER))
    place.run(
        "INSERT INTO api_key (tenant_id, key_id, mac, scopes) VALUES (%s, %s, %s, %s)",
        tenant_id,
        minted.key_id,
        minted.mac,
        list(scopes),
    )
    return minted.text.get_secret_value()


@dataclass
class Capture:
    """A request that would be accepted, until a test spoils it."""

    metadata: dict[str, Any]
    parts: list[Part]

    def body(self, boundary: str) -> bytes:
        """The whole multipart body."""
        return b"".join([*(part_head(name, boundary) + data for name, data in self.all_parts()), part_end(boundary)])

    def all_parts(self) -> list[Part]:
        """The metadata and the artifacts."""
        return [("metadata", json.dumps(self.metadata).encode()), *self.parts]

    def send(self, intake: IntakeProcess, tenant: Tenant, **headers: str) -> httpx.Response:
        """Hand it in, each time with another boundary."""
        boundary = uuid.uuid4().hex
        return post(intake, tenant, self.body(boundary), boundary, **headers)


def new_capture(*pages: bytes, **changes: Any) -> Capture:
    """A capture of these pages, `page-0` and so on, with a key and a content of its own."""
    pages = pages or (f"<html>{uuid.uuid4()}</html>".encode(),)
    parts = [(f"page-{index}", page) for index, page in enumerate(pages)]
    metadata: dict[str, Any] = {
        "schema_version": "capture/1",
        "idempotency_key": uuid.uuid4().hex,
        "catalog_id": "cat_main",
        "source_id": "src_shop",
        "url": "https://shop.example/thing",
        "observed_at": "2026-01-02T03:04:05Z",
        "fetch_status": 200,
        "artifacts": [{"part": name, "media_type": "text/html"} for name, _ in parts],
        "pins": None,
    }
    return Capture(metadata | changes, parts)


def part_head(name: str, boundary: str) -> bytes:
    """What comes before a part's bytes; with the line break that ends the part before it."""
    return f'\r\n--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode()


def part_end(boundary: str) -> bytes:
    """What ends the body."""
    return f"\r\n--{boundary}--\r\n".encode()


def post(intake: IntakeProcess, tenant: Tenant, body: bytes, boundary: str, **headers: str) -> httpx.Response:
    """Send these bytes as a capture."""
    sent = {"Content-Type": f"multipart/form-data; boundary={boundary}", **tenant.headers}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.post(f"{intake.url}/v1/captures", content=body, headers=sent, timeout=30)


def digest(data: bytes) -> str:
    """The name of bytes in the bucket."""
    return sha256(data).hexdigest()
