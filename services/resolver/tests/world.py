"""What the resolver API's tests stand on: the real process, and tenants whose catalogs raise questions."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psycopg
from assay_cli.stack.databases import Database
from assay_contracts.ids import new_id
from assay_resolver.reading import canonical
from assay_resolver.rules import resolve_capture
from assay_resolver.streams import Stream
from assay_runtime import keys
from psycopg import AsyncConnection
from pydantic import SecretStr

PEPPER = "pepper-of-the-resolver-tests"
SCOPES = ("cases:read", "cases:decide", "lineage:read", "dead-letters:read")
CATALOG = "cat_main"
START_SECONDS = 60.0

_T = TypeVar("_T")


@dataclass
class ApiProcess:
    """`python -m assay_resolver_api api`, alive until ended."""

    process: subprocess.Popen[bytes]
    log_path: Path
    port: int = 0

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def events(self) -> list[dict[str, Any]]:
        """Its log lines so far."""
        lines = self.log_path.read_text().rpartition("\n")[0].splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def end(self) -> int:
        """SIGTERM; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


def start_api(environment: Mapping[str, str], folder: Path) -> ApiProcess:
    """Start the process and wait until it listens."""
    log_path = folder / f"resolver-{uuid.uuid4().hex}.log"
    command = [sys.executable, "-m", "assay_resolver_api", "api"]
    with log_path.open("wb") as log:
        process = subprocess.Popen(command, env={**os.environ, **environment}, stderr=log)
    api = ApiProcess(process, log_path)
    api.port = wait_for(lambda: _listening_port(api), START_SECONDS)
    return api


def _listening_port(api: ApiProcess) -> int | None:
    if api.process.poll() is not None:
        raise AssertionError(f"the API ended at once:\n{api.log_path.read_text()}")
    return next((event["port"] for event in api.events() if event["event"] == "http.listening"), None)


def wait_for(condition: Callable[[], _T | None], seconds: float = 15.0) -> _T:
    """The condition's first answer that is true, within the deadline."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError("the condition did not come true in time")


def text(words: str) -> dict[str, object]:
    """A text value."""
    return {"type": "text", "text": words, "lang": None}


def code(value: str) -> dict[str, object]:
    """A code value."""
    return {"type": "code", "code": value}


@dataclass(frozen=True)
class Tenant:
    """One tenant with one catalog, seen by a client with its key."""

    database: Database
    api: ApiProcess
    tenant_id: str
    key: str

    @property
    def headers(self) -> dict[str, str]:
        """Who is asking."""
        return {"Authorization": f"Bearer {self.key}"}

    def get(self, path: str, **query: object) -> httpx.Response:
        """Ask about the catalog."""
        stated = {"catalog": CATALOG, **query}
        return httpx.get(f"{self.api.url}/v1/{path}", params=stated, headers=self.headers)  # pyright: ignore[reportArgumentType] - names to texts

    def post(self, path: str, body: object, request_id: str = "req-1", **query: str) -> httpx.Response:
        """Ask for a decision in the catalog."""
        headers = {**self.headers, "Idempotency-Key": request_id}
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        stated = {"catalog": CATALOG, **query}
        return httpx.post(f"{self.api.url}/v1/{path}", content=content, params=stated, headers=headers, timeout=30)

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Rows past all row level security; the tenant is the statement's first value."""
        with psycopg.connect(self.database.admin_dsn) as connection:
            return connection.execute(statement.encode(), [self.tenant_id, *values]).fetchall()

    async def see(self, path: str, **stated: dict[str, object]) -> str:
        """Let the rules decide a page that states these values; the outcome."""
        with psycopg.connect(self.database.admin_dsn) as admin:
            capture_id = _write_page(admin, self.tenant_id, f"https://shop.example/{path}", stated)
        stream = Stream(self.tenant_id, CATALOG, "history-1")
        async with await AsyncConnection.connect(self.database.dsn("assay_stages")) as connection:
            resolved = await resolve_capture(connection, stream, capture_id, 1, f"{capture_id}:identity:1")
        return resolved.outcome

    async def open_case(self) -> tuple[str, str]:
        """Two pages so alike that the second is a question: the case, and the item that the first made."""
        name = text("Acme Desk Lamp Nordic 40W")
        await self.see("a", name=name, brand=text("Acme"))
        assert await self.see("b", name=name, brand=text("Acme"), mpn=code("NL-40X")) == "case"
        ((case_id,),) = self.rows("SELECT case_id FROM review_case WHERE tenant_id = %s AND state = 'open'")
        ((item_id,),) = self.rows("SELECT item_id FROM item WHERE tenant_id = %s")
        return str(case_id), str(item_id)

    async def lamp(self) -> str:
        """An item made by one page."""
        assert await self.see("lamp", name=text("Lamp One"), color=text("red")) == "created"
        ((item_id,),) = self.rows("SELECT item_id FROM item WHERE tenant_id = %s")
        return str(item_id)


def new_tenant(database: Database, api: ApiProcess, scopes: tuple[str, ...] = SCOPES) -> Tenant:
    """A tenant that no other test knows."""
    tenant_id, minted = f"ten_{uuid.uuid4().hex}", keys.mint(SecretStr(PEPPER))
    with psycopg.connect(database.admin_dsn) as admin:
        admin.execute("INSERT INTO tenant (tenant_id) VALUES (%s)", [tenant_id])
        admin.execute("INSERT INTO catalog (tenant_id, catalog_id) VALUES (%s, %s)", [tenant_id, CATALOG])
        admin.execute("INSERT INTO source (tenant_id, source_id) VALUES (%s, 'src_shop')", [tenant_id])
        admin.execute(
            "INSERT INTO api_key (tenant_id, key_id, mac, scopes) VALUES (%s, %s, %s, %s)",
            [tenant_id, minted.key_id, minted.mac, list(scopes)],
        )
    return Tenant(database, api, tenant_id, minted.text.get_secret_value())


def _write_page(admin: psycopg.Connection, tenant_id: str, url: str, stated: Mapping[str, dict[str, object]]) -> str:
    """What intake, extract and normalize would have written of a page; the capture."""
    capture_id, now = new_id("cap"), datetime.now(UTC)
    page = {
        "t": tenant_id,
        "c": CATALOG,
        "cap": capture_id,
        "url": url,
        "at": now,
        "rcpt": new_id("rcpt"),
        "rdg": new_id("rdg"),
        "sha": hashlib.sha256(f"{url}{stated}".encode()).hexdigest(),
        "digest": hashlib.sha256(canonical(stated).encode()).digest(),
    }
    for statement in _PAGE:
        admin.execute(statement, page)
    for n, (name, value) in enumerate(stated.items()):
        admin.execute(_FACT, {**page, "n": n, "name": name, "value": canonical(value)})
    return capture_id


_PAGE = (
    "INSERT INTO evidence (tenant_id, sha256, bytes, media_type, state)"
    " VALUES (%(t)s, %(sha)s, 10, 'text/html', 'stored') ON CONFLICT DO NOTHING",
    "INSERT INTO capture (tenant_id, capture_id, catalog_id, source_id, url, fetch_status, observed_at, received_at)"
    " VALUES (%(t)s, %(cap)s, %(c)s, 'src_shop', %(url)s, 200, %(at)s, %(at)s)",
    "INSERT INTO receipt (tenant_id, receipt_id, capture_id, idempotency_key, body_digest, received_at)"
    " VALUES (%(t)s, %(rcpt)s, %(cap)s, %(rcpt)s, %(digest)s, %(at)s)",
    "INSERT INTO extraction (tenant_id, catalog_id, capture_id, attempt_group, sha256, adapter, outcome, found)"
    " VALUES (%(t)s, %(c)s, %(cap)s, 1, %(sha)s, 'pa_schema_org@1.0.0', 'ok', '[]')",
    "INSERT INTO reading (tenant_id, catalog_id, reading_id, capture_id, attempt_group, node, key, profile, digest)"
    " VALUES (%(t)s, %(c)s, %(rdg)s, %(cap)s, 1, '', %(url)s, 'np_product@1', %(digest)s)",
)
_FACT = (
    "INSERT INTO fact (tenant_id, catalog_id, reading_id, n, capture_id, attempt_group, sha256, adapter, name, raw,"
    " value, place_syntax, place) VALUES (%(t)s, %(c)s, %(rdg)s, %(n)s, %(cap)s, 1, %(sha)s, 'pa_schema_org@1.0.0',"
    " %(name)s, 'raw', %(value)s, 'json_pointer', '0#/name')"
)
