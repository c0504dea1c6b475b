"""A database that was restored and does not know it: every process on it halts within seconds and says why."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import httpx
import psycopg
import pytest
from assay_cli.stack.databases import Database
from assay_cli.testing import Bucket
from assay_contracts.topics import TOPICS
from assay_runtime.kafka import ensure_topics
from assay_runtime.settings import KafkaSettings

PROCESSES = {
    "assay_relay events": "assay_relay_events",
    "assay_relay jobs": "assay_relay_jobs",
    "assay_relay prune": "assay_relay_prune",
    "assay_relay api": "assay_relay_api",
    "assay_resolver_api api": "assay_resolver_api",
    "assay_intake api": "assay_intake",
    "assay_stages normalize": "assay_stages",
}
HALT_SECONDS = 5.0
START_SECONDS = 90.0


class Running:
    """One process, and what its second port says."""

    def __init__(self, program: str, environment: Mapping[str, str], folder: Path) -> None:
        self.program = program
        self._log = folder / f"{program.replace(' ', '-')}.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *program.split()], env={**os.environ, **environment}, stderr=log, stdout=log
            )

    @property
    def readiness(self) -> tuple[int, str]:
        """Status and why of /readyz; (0, log) while nobody answers."""
        for line in self._log.read_text(errors="replace").splitlines():
            if '"process.started"' in line:
                answer = httpx.get(f"http://127.0.0.1:{json.loads(line)['port']}/readyz", trust_env=False)
                return answer.status_code, answer.json()["why"]
        return 0, self._log.read_text(errors="replace")[-2_000:]


def _await(condition: Callable[[], bool], what: Callable[[], str], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what()
        threading.Event().wait(0.05)


@pytest.fixture
def environment(kafka_bootstrap: str, kafka_prefix: str, evidence_bucket: Bucket, tmp_path: Path) -> dict[str, str]:
    """What every process is given but its role."""
    ensure_topics(KafkaSettings(kafka_bootstrap=kafka_bootstrap, kafka_prefix=kafka_prefix), TOPICS.values(), 1)
    return {
        **evidence_bucket.settings,
        "ASSAY_KAFKA_BOOTSTRAP": kafka_bootstrap,
        "ASSAY_KAFKA_PREFIX": kafka_prefix,
        "ASSAY_KEY_PEPPER": "pepper-of-the-witness-test",
        "ASSAY_SPOOL_DIR": str(tmp_path),
    }


@pytest.fixture
def start(environment: dict[str, str], resolver_db: Database, tmp_path: Path) -> Iterator[Callable[[str], Running]]:
    """Starts processes on this test's resolver database."""
    started: list[Running] = []

    def start_one(program: str) -> Running:
        dsn = {"ASSAY_DSN": resolver_db.dsn(PROCESSES[program])}
        started.append(Running(program, {**environment, **dsn}, tmp_path))
        return started[-1]

    yield start_one
    for one in started:
        one.process.kill()
        one.process.wait()


def _clock(database: Database) -> int:
    with psycopg.connect(database.admin_dsn) as connection:
        row = connection.execute("SELECT clock FROM history_clock").fetchone()
    assert row is not None
    return int(row[0])


def test_a_forgotten_epoch_halts_every_process_within_five_seconds(
    start: Callable[[str], Running], resolver_db: Database
) -> None:
    running = [start(program) for program in PROCESSES]
    _await(
        lambda: all(one.readiness[0] == 200 for one in running),
        lambda: str([(one.program, one.readiness) for one in running]),
        START_SECONDS,
    )
    _await(lambda: _clock(resolver_db) > 3, lambda: "the clock stands still", 30)
    with psycopg.connect(resolver_db.admin_dsn) as restored:
        restored.execute("UPDATE history_clock SET clock = 1")
    since = time.monotonic()
    _await(
        lambda: all("halted: the database is at history-1 clock" in one.readiness[1] for one in running),
        lambda: str([(one.program, one.readiness) for one in running]),
        HALT_SECONDS + 1.0,
    )
    assert time.monotonic() - since < HALT_SECONDS + 1.0
    assert [one.process.poll() for one in running] == [None] * len(running)
    _expect_clean_ends(running)
    assert _clock(resolver_db) < 4


def _expect_clean_ends(running: list[Running]) -> None:
    for one in running:
        one.process.terminate()
    assert {one.program: one.process.wait(30) for one in running} == dict.fromkeys(PROCESSES, 0)


def test_a_relay_that_starts_on_a_restored_database_neither_ticks_nor_publishes(
    start: Callable[[str], Running], resolver_db: Database
) -> None:
    first = start("assay_relay events")
    _await(lambda: _clock(resolver_db) > 3, lambda: str(first.readiness), START_SECONDS)
    first.process.terminate()
    first.process.wait(30)
    with psycopg.connect(resolver_db.admin_dsn) as restored:
        restored.execute("UPDATE history_clock SET clock = 1")
        restored.execute("INSERT INTO tenant (tenant_id) VALUES ('ten_a')")
        restored.execute("INSERT INTO catalog (tenant_id, catalog_id) VALUES ('ten_a', 'cat_a')")
        restored.execute("INSERT INTO cursor VALUES ('ten_a', 'cat_a', 'history-1', 1)")
        restored.execute(
            "INSERT INTO outbox (tenant_id, catalog_id, history_epoch, position, event_id, value)"
            " VALUES ('ten_a', 'cat_a', 'history-1', 1, gen_random_uuid(), 'x')"
        )
    second = start("assay_relay events")
    _await(lambda: "halted" in second.readiness[1], lambda: str(second.readiness), START_SECONDS)
    assert _clock(resolver_db) == 1
    with psycopg.connect(resolver_db.admin_dsn) as connection:
        assert connection.execute("SELECT published FROM relay_stream WHERE published > 0").fetchall() == []


def test_an_advanced_epoch_is_ahead_of_the_witness(start: Callable[[str], Running], resolver_db: Database) -> None:
    first = start("assay_relay events")
    _await(lambda: _clock(resolver_db) > 3, lambda: str(first.readiness), START_SECONDS)
    first.process.terminate()
    first.process.wait(30)
    with psycopg.connect(resolver_db.admin_dsn) as restored:
        restored.execute("UPDATE history_clock SET clock = 1")
        restored.execute("UPDATE history_epoch SET state = 'closed'")
        restored.execute("INSERT INTO history_epoch VALUES (2, 'history-2', 'open')")
    second = start("assay_relay events")
    _await(lambda: second.readiness[0] == 200, lambda: str(second.readiness), START_SECONDS)
    _await(lambda: _clock(resolver_db) > 1, lambda: "the clock stands still", 30)
