"""The hot statements use their indexes, whatever else is in the tables."""

import re
from collections.abc import Iterator, Sequence
from uuid import UUID

import psycopg
import pytest
from assay_cli.stack.databases import Database
from assay_relay.log_state import PLACES
from assay_runtime.sql import load
from psycopg.rows import TupleRow

from .world import Outbox

STREAMS = 2_000
ROWS = 40_000
Plan = list[str]


@pytest.fixture
def filled(outbox: Outbox, resolver_db: Database) -> Iterator[psycopg.Connection[TupleRow]]:
    """Many streams with published rows, the last ones of ten streams unpublished, seen by the relay's role."""
    run = outbox.connection.execute
    run("INSERT INTO tenant (tenant_id) SELECT 'ten_' || n FROM generate_series(0, %s) AS n", [STREAMS - 1])
    run("INSERT INTO catalog (tenant_id, catalog_id) SELECT tenant_id, 'cat_a' FROM tenant")
    run(
        "INSERT INTO cursor (tenant_id, catalog_id, history_epoch, position)"
        " SELECT tenant_id, 'cat_a', 'history-1', %s FROM tenant",
        [ROWS // STREAMS],
    )
    run(
        "INSERT INTO outbox (tenant_id, catalog_id, history_epoch, position, event_id, value)"
        " SELECT 'ten_' || n %% %s, 'cat_a', 'history-1', n / %s + 1, gen_random_uuid(), repeat('x', 100)::bytea"
        " FROM generate_series(0, %s) AS n",
        [STREAMS, STREAMS, ROWS - 1],
    )
    run(
        "INSERT INTO relay_stream (tenant_id, catalog_id, history_epoch, bucket, published, published_id)"
        " SELECT tenant_id, 'cat_a', 'history-1', (row_number() OVER ()) %% 64, %s, %s FROM tenant",
        [ROWS // STREAMS - 10, ROWS - 10 * STREAMS],
    )
    run("SELECT outbox_add_partitions(8)")
    run("VACUUM ANALYZE")
    with psycopg.connect(resolver_db.dsn("assay_relay_events"), autocommit=True) as connection:
        yield connection


def explain(connection: psycopg.Connection[TupleRow], file: str, name: str, parameters: dict[str, object]) -> Plan:
    """The lines of the plan as it ran."""
    statement = b"EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) "
    text = load("assay_relay", file)[name].encode()
    return [str(row[0]) for row in connection.execute(statement + text, parameters)]


def buffers(plan: Plan) -> int:
    """Pages that the whole statement touched."""
    first = next(line for line in plan if "Buffers:" in line)
    return sum(int(count) for count in re.findall(r"(?:hit|read)=(\d+)", first))


def streams(numbers: Sequence[int]) -> dict[str, object]:
    """The keys of some streams."""
    return {
        "tenants": [f"ten_{n}" for n in numbers],
        "catalogs": ["cat_a" for _ in numbers],
        "epochs": ["history-1" for _ in numbers],
    }


def assert_no_scan(plan: Plan, *tables: str) -> None:
    """None of these tables, nor a partition of theirs that holds rows, was read from end to end."""
    scanned = [line for line in plan if "Seq Scan" in line and any(f"on {table}" in line for table in tables)]
    assert not scanned, "\n".join(plan)


def test_news_cost_what_is_new(filled: psycopg.Connection[TupleRow]) -> None:
    idle = explain(filled, "outbox", "find_news", {"head": ROWS, "rows": 20_000})
    assert_no_scan(idle, "outbox_0")
    assert buffers(idle) <= 50
    few = explain(filled, "outbox", "find_news", {"head": ROWS - 20, "rows": 20_000})
    assert_no_scan(few, "outbox_0")
    assert buffers(few) <= 50


def test_late_rows_are_looked_up_by_id(filled: psycopg.Connection[TupleRow]) -> None:
    gaps: dict[str, object] = {"lows": [100, 5000], "highs": [103, 5001]}
    plan = explain(filled, "outbox", "find_late", gaps)
    assert_no_scan(plan, "outbox_0")
    assert buffers(plan) <= 50


def test_events_are_read_by_stream_and_position(filled: psycopg.Connection[TupleRow]) -> None:
    after = ROWS // STREAMS - 10
    wants = {
        **streams(range(10)),
        "afters": [after] * 10,
        "untils": [after + 10] * 10,
        "after_ids": [ROWS - 10 * STREAMS] * 10,
    }
    plan = explain(filled, "outbox", "read_events", wants)
    assert_no_scan(plan, "outbox_0")
    rows = 100
    assert buffers(plan) <= 4 * rows


def test_marks_touch_their_streams_only(filled: psycopg.Connection[TupleRow]) -> None:
    marks = {
        **streams(range(10)),
        "owner": "first",
        "terms": [0] * 10,
        "positions": [200] * 10,
        "ids": [200] * 10,
        "helds": [None] * 10,
    }
    assert_no_scan(explain(filled, "relay_stream", "mark_published", marks), "relay_stream")


def test_a_bucket_is_compared_by_its_index(filled: psycopg.Connection[TupleRow]) -> None:
    plan = explain(filled, "relay_stream", "list_behind", {"buckets": [1]})
    assert any("relay_stream_by_bucket" in line for line in plan), "\n".join(plan)


@pytest.fixture
def many_jobs(outbox: Outbox, resolver_db: Database) -> Iterator[psycopg.Connection[TupleRow]]:
    """A long history of done jobs, and open ones that wait in the log; seen by the sweeper's role."""
    run = outbox.connection.execute
    run("INSERT INTO tenant (tenant_id) VALUES ('ten_a')")
    run("INSERT INTO catalog (tenant_id, catalog_id) VALUES ('ten_a', 'cat_a')")
    run("INSERT INTO source (tenant_id, source_id) VALUES ('ten_a', 'src_a')")
    run(
        "INSERT INTO capture (tenant_id, capture_id, catalog_id, source_id, url, fetch_status, observed_at,"
        " received_at) SELECT 'ten_a', 'cap_' || n, 'cat_a', 'src_a', 'https://shop.example/', 200, now(), now()"
        " FROM generate_series(1, 20000) AS n"
    )
    run(
        "INSERT INTO job (tenant_id, job_id, capture_id, stage, attempt_group, history_epoch, envelope_id, envelope_ts,"
        " payload, state, outcome, due_at, sent_topic_id, sent_partition, sent_offset)"
        " SELECT 'ten_a', capture_id || ':extract:1', capture_id, 'extract', 1, 'history-1', gen_random_uuid(), 1,"
        " '{}', CASE WHEN n > 15000 THEN 'open' ELSE 'done' END, CASE WHEN n > 15000 THEN NULL ELSE 'ok' END,"
        " now() - interval '1 hour', %s, n %% 8, n / 8"
        " FROM (SELECT capture_id, row_number() OVER () AS n FROM capture) AS numbered",
        [UUID(int=1)],
    )
    run("VACUUM ANALYZE")
    with psycopg.connect(resolver_db.dsn("assay_relay_jobs"), autocommit=True) as connection:
        yield connection


CLAIM: dict[str, object] = {"rows": 100, "claim_seconds": 30.0, "grace_seconds": 2.0}


def test_a_sweep_with_nothing_to_send_is_cheap(many_jobs: psycopg.Connection[TupleRow]) -> None:
    plan = explain(many_jobs, "job", "claim_unsent", CLAIM)
    assert_no_scan(plan, "job")
    assert buffers(plan) <= 50


def test_a_backlog_that_waits_in_the_log_is_not_read(many_jobs: psycopg.Connection[TupleRow]) -> None:
    passed = [(stage, partition) for stage, partition in PLACES if stage == "extract"]
    ranges = {
        "topic_id": UUID(int=1),
        "reasons": ["passed" for _ in passed],
        "stages": [stage for stage, _ in passed],
        "partitions": [partition for _, partition in passed],
        "lows": [0 for _ in passed],
        "highs": [1800 for _ in passed],
    }
    plan = explain(many_jobs, "job", "claim_past", {**CLAIM, **ranges})
    assert_no_scan(plan, "job")
    assert buffers(plan) <= 100
