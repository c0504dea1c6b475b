"""⑦ to ⑥: apply's durable cursors reach the relay's retention, and a restored product is told that it is behind."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
from assay_cli.stack.databases import Database
from assay_cli.testing import Bucket
from assay_product.reporting import Reporter
from assay_product.settings import ApplySettings
from assay_runtime import keys
from assay_runtime.postgres import open_sync_pool
from psycopg.rows import TupleRow
from pydantic import SecretStr

PEPPER = "pepper-of-the-progress-test"
SCOPES = ["retention:report", "retention:read", "history:read"]


class World:
    """A stream in the resolver, a generation in the product, and the relay's API as a process between them."""

    def __init__(self, resolver: Database, product: Database, bucket: Bucket, log: Path) -> None:
        self.resolver = psycopg.connect(resolver.admin_dsn, autocommit=True)
        self.product = psycopg.connect(product.admin_dsn, autocommit=True)
        self.product_dsn = product.dsn("assay_apply")
        self._environment = {
            **os.environ,
            **bucket.settings,
            "ASSAY_DSN": resolver.dsn("assay_relay_api"),
            "ASSAY_KEY_PEPPER": PEPPER,
        }
        self._log = log
        self.key = keys.mint(SecretStr(PEPPER))
        self._fill()

    def _fill(self) -> None:
        run = self.resolver.execute
        run("INSERT INTO tenant (tenant_id) VALUES ('ten_a')")
        run("INSERT INTO catalog (tenant_id, catalog_id) VALUES ('ten_a', 'cat_a')")
        run("INSERT INTO cursor VALUES ('ten_a', 'cat_a', 'history-1', 10)")
        run("INSERT INTO relay_stream VALUES ('ten_a', 'cat_a', 'history-1', 0, 10)")
        run(
            "INSERT INTO service_key (name, key_id, mac, scopes) VALUES ('apply', %s, %s, %s)",
            [self.key.key_id, self.key.mac, SCOPES],
        )
        self.product.execute(
            "INSERT INTO generation (tenant_id, catalog_id, generation, history_epoch, state)"
            " VALUES ('ten_a', 'cat_a', 1, 'history-1', 'live')"
        )
        self.product.execute("INSERT INTO cursor (tenant_id, catalog_id, generation) VALUES ('ten_a', 'cat_a', 1)")

    def start_api(self) -> tuple[subprocess.Popen[bytes], str]:
        """`python -m assay_relay api`, once it listens."""
        with self._log.open("wb") as log:
            process = subprocess.Popen([sys.executable, "-m", "assay_relay", "api"], env=self._environment, stderr=log)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            for line in self._log.read_text().splitlines():
                if '"http.listening"' in line:
                    return process, f"http://127.0.0.1:{json.loads(line)['port']}"
            threading.Event().wait(0.05)
        raise AssertionError(self._log.read_text())

    def settings(self, url: str) -> ApplySettings:
        """Of an apply process that reports there."""
        return ApplySettings.model_validate(
            {
                "dsn": self.product_dsn,
                "kafka_bootstrap": "unused:1",
                "history_epoch": "history-1",
                "retention_url": url,
                "retention_key": self.key.text,
                "retention_report_seconds": 0.05,
            }
        )

    def apply(self, progress: int) -> None:
        """The product has come so far."""
        self.product.execute("UPDATE cursor SET progress = %s, highest = %s, processed = %s", [progress] * 3)

    def acknowledged(self) -> int | None:
        """What the relay knows."""
        row = self.resolver.execute("SELECT position FROM consumer_progress WHERE name = 'product.apply'").fetchone()
        return None if row is None else int(row[0])

    def halted(self) -> str | None:
        """Why the product's stream stands still."""
        return _one(self.product.execute("SELECT halted FROM cursor"))[0]


def _one(cursor: psycopg.Cursor[TupleRow]) -> TupleRow:
    row = cursor.fetchone()
    assert row is not None
    return row


@pytest.fixture
def world(resolver_db: Database, product_db: Database, evidence_bucket: Bucket, tmp_path: Path) -> Iterator[World]:
    """One stream with ten published events, of which the product has none."""
    made = World(resolver_db, product_db, evidence_bucket, tmp_path / "relay-api.log")
    yield made
    made.resolver.close()
    made.product.close()


def _await(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, what
        threading.Event().wait(0.02)


def test_apply_reports_its_committed_cursors_across_an_outage_of_the_api(world: World) -> None:
    process, url = world.start_api()
    with open_sync_pool(SecretStr(world.product_dsn), 1, 2, "test") as pool:
        reporter = Reporter(world.settings(url), pool)
        reporter.start()
        world.apply(4)
        _await(lambda: world.acknowledged() == 4, "the first report")
        process.kill()
        process.wait()
        world.apply(7)
        reporter.close()
        process, url = world.start_api()
        successor = Reporter(world.settings(url), pool)
        successor.start()
        _await(lambda: world.acknowledged() == 7, "the report after the outage")
        successor.close()
    process.terminate()
    assert process.wait(30) == 0
    assert world.halted() is None


def test_a_restored_product_is_told_that_it_is_behind_and_halts(world: World) -> None:
    process, url = world.start_api()
    with (
        open_sync_pool(SecretStr(world.product_dsn), 1, 2, "test") as pool,
        httpx.Client(base_url=url, headers={"Authorization": f"Bearer {world.key.text.get_secret_value()}"}) as http,
    ):
        world.apply(9)
        Reporter(world.settings(url), pool).turn(http)
        assert (world.acknowledged(), world.halted()) == (9, None)
        world.apply(4)
        Reporter(world.settings(url), pool).turn(http)
    assert world.acknowledged() == 9
    assert world.halted() == "the relay has acknowledged or pruned 1..9, this database holds 1..4: rebuild it"
    process.terminate()
    assert process.wait(30) == 0


def test_a_new_product_finds_out_at_once_that_its_history_is_pruned(world: World) -> None:
    process, url = world.start_api()
    world.resolver.execute(
        "INSERT INTO stream_floor (tenant_id, catalog_id, history_epoch, pruned_through)"
        " VALUES ('ten_a', 'cat_a', 'history-1', 6)"
    )
    with (
        open_sync_pool(SecretStr(world.product_dsn), 1, 2, "test") as pool,
        httpx.Client(base_url=url, headers={"Authorization": f"Bearer {world.key.text.get_secret_value()}"}) as http,
    ):
        Reporter(world.settings(url), pool).turn(http)
    assert (world.halted() or "").startswith("the relay has acknowledged or pruned 1..6")
    process.terminate()
    assert process.wait(30) == 0
