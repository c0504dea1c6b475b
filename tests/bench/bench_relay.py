"""How close the relay comes to what one process could do at most: raw SELECT and raw produce of the same bytes.

The limits are measured in the same run, in rounds that alternate. EVENTS in a round, ROUNDS rounds; with ROWS, so many
old published rows are built and one more round is held against those before. The last line is one JSON object.
"""

import json
import os
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg
from assay_cli.stack import Stack, databases
from assay_cli.stack.databases import Database
from assay_relay.events import Relay
from assay_relay.outlet import EVENT, Outlet, event_headers
from assay_relay.settings import EventsSettings
from assay_relay.store import Store
from assay_runtime.kafka import ensure_topics, make_producer, physical
from assay_runtime.sql import load
from confluent_kafka import Producer
from psycopg.rows import TupleRow

EVENTS = int(os.environ.get("EVENTS", "100000"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
ROWS = int(os.environ.get("ROWS", "0"))
STREAMS = 50
TENANTS = 10
EVENT_BYTES = 1155
OLD_BYTES = 40
BATCH = 1000
CHUNK = 500_000
OWNER = "bench"

_RAW = "SELECT id, position, event_id::text, value FROM outbox WHERE id > %s ORDER BY id LIMIT %s"
_KEPT = "SELECT event_id::text, value, tenant_id FROM outbox WHERE id > %s ORDER BY id"

Message = tuple[str, bytes, bytes]
"""Event id, value and key."""


@dataclass(frozen=True)
class Cost:
    """One measurement: seconds on the wall, CPU seconds of this process, Postgres and the broker; WAL; pages."""

    seconds: float
    cpu: tuple[float, float, float]
    wal_bytes: int
    buffers: int

    @property
    def rate(self) -> float:
        """Events in a second."""
        return EVENTS / self.seconds

    @property
    def cpu_us(self) -> float:
        """Microseconds of CPU for an event, all three together."""
        return sum(self.cpu) / EVENTS * 1e6


@dataclass(frozen=True)
class Bench:
    """The parts of this run."""

    database: Database
    settings: EventsSettings
    pids: tuple[int, int]
    admin: psycopg.Connection[TupleRow]

    def measure(self, work: Callable[[], None]) -> Cost:
        """Run it once; it must close its own connections."""
        self.admin.execute("CHECKPOINT")
        wal, pages, cpu = self._wal(), self._pages(), self._cpu()
        started = time.perf_counter()
        work()
        seconds = time.perf_counter() - started
        ours, postgres, broker = (after - before for after, before in zip(self._cpu(), cpu, strict=True))
        return Cost(seconds, (ours, postgres, broker), self._wal() - wal, self._pages() - pages)

    def number(self, statement: str) -> int:
        """The one number that a statement answers with."""
        row = self.admin.execute(statement.encode()).fetchone()
        assert row is not None
        return int(row[0])

    def connect(self) -> psycopg.Connection[TupleRow]:
        """A connection as the relay's role."""
        dsn = self.settings.dsn.get_secret_value()
        return psycopg.connect(dsn, autocommit=True, prepare_threshold=1)

    def _wal(self) -> int:
        return self.number("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')")

    def _pages(self) -> int:
        self.admin.execute("SELECT pg_stat_force_next_flush()")
        return self.number("SELECT blks_hit + blks_read FROM pg_stat_database WHERE datname = current_database()")

    def _cpu(self) -> tuple[float, float, float]:
        postgres, broker = (_tree_cpu(pid) for pid in self.pids)
        return time.process_time(), postgres, broker


def _tree_cpu(pid: int) -> float:
    root = psutil.Process(pid)
    own = root.cpu_times()
    total = own.user + own.system + own.children_user + own.children_system
    for child in root.children():
        times = child.cpu_times()
        total += times.user + times.system
    return total


@contextmanager
def started() -> Generator[Bench]:
    """Postgres and Kafka of this run alone."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        stack = Stack(Path(folder))
        place = stack.up(only=["postgres", "kafka"], owner_pid=os.getpid())
        try:
            database = databases.provision(place.postgres, place.credentials, "resolver")
            settings = EventsSettings.model_validate(
                {
                    "dsn": database.dsn("assay_relay_events"),
                    "kafka_bootstrap": place.kafka.bootstrap,
                    "relay_lease_seconds": 60.0,
                    "relay_batch_events": BATCH,
                }
            )
            ensure_topics(settings, [EVENT], 1)
            with psycopg.connect(database.admin_dsn, autocommit=True) as admin:
                yield Bench(database, settings, _part_pids(stack), admin)
        finally:
            stack.down()


def _part_pids(stack: Stack) -> tuple[int, int]:
    state = stack.state()
    assert state is not None
    postgres, kafka = state.processes["postgres"].pid, state.processes["kafka"].pid
    assert postgres is not None
    assert kafka is not None
    return postgres, kafka


def found_streams(bench: Bench) -> None:
    """Tenants, catalogs and cursors."""
    run = bench.admin.execute
    run("INSERT INTO tenant (tenant_id) SELECT 'ten_' || n FROM generate_series(1, %s) AS n", [TENANTS])
    run(
        "INSERT INTO catalog (tenant_id, catalog_id)"
        " SELECT tenant_id, 'cat_' || n FROM tenant, generate_series(1, %s) AS n",
        [STREAMS // TENANTS],
    )
    run(
        "INSERT INTO cursor (tenant_id, catalog_id, history_epoch)"
        " SELECT tenant_id, catalog_id, 'history-1' FROM catalog"
    )


def fill(bench: Bench, rows: int, size_bytes: int) -> int:
    """Append rows to all streams in turn; returns the highest id before them."""
    before = bench.number("SELECT COALESCE(max(id), 0) FROM outbox")
    bench.admin.execute("SELECT outbox_add_partitions(%s)", [rows // 1_000_000 + 3])
    per_stream = rows // STREAMS
    with bench.admin.transaction():
        bench.admin.execute(
            "INSERT INTO outbox (tenant_id, catalog_id, history_epoch, position, event_id, value)"
            " SELECT tenant_id, catalog_id, history_epoch, position + n, gen_random_uuid(),"
            " convert_to(rpad(n::text, %s, 'x'), 'UTF8') FROM generate_series(1, %s) AS n, cursor ORDER BY n",
            [size_bytes, per_stream],
        )
        bench.admin.execute("UPDATE cursor SET position = position + %s", [per_stream])
    return before


def select_raw(bench: Bench, after: int) -> None:
    """Everything behind an id, in batches, and nothing done with it."""
    with bench.connect() as connection:
        while rows := connection.execute(_RAW.encode(), [after, BATCH], binary=True).fetchall():
            after = int(rows[-1][0])


def keep(bench: Bench, after: int) -> list[Message]:
    """Everything behind an id, for the raw producer."""
    with bench.connect() as connection:
        rows = connection.execute(_KEPT.encode(), [after], binary=True)
        return [(str(row[0]), bytes(row[1]), str(row[2]).encode()) for row in rows]


def produce_raw(producer: Producer, name: str, messages: list[Message]) -> None:
    """Send them with the relay's headers, and wait until all are acknowledged."""
    for n, (event_id, value, key) in enumerate(messages):
        producer.produce(name, value, key, headers=event_headers(event_id))
        if n % BATCH == 0:
            producer.poll(0)
            while len(producer) > 4 * BATCH:
                producer.poll(0.01)
    producer.flush()


class Relayed:
    """A relay that is warm: its leases are taken and its producer has sent before."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._outlet = Outlet(bench.settings)
        self._relay = Relay(bench.settings, OWNER, self._outlet)
        self._store = Store(bench.settings.dsn, OWNER)
        self._unmarked = "SELECT sum(c.position - COALESCE(s.published, 0)) FROM cursor AS c"
        self._unmarked += " LEFT JOIN relay_stream AS s USING (tenant_id, catalog_id, history_epoch)"

    def settle(self) -> None:
        """Publish what is there."""
        while self._bench.number(self._unmarked):
            self._relay.turn(self._store)
        for _ in range(100):
            self._relay.turn(self._store)

    def publish(self) -> None:
        """Find, send and mark one round's events; ends the connection, so that Postgres counts its pages."""
        moved = True
        while moved or self._relay.backlog.depth:
            moved = self._relay.turn(self._store)
        self._store.close()

    def reconnect(self) -> None:
        """Go on with another connection."""
        self._store = Store(self._bench.settings.dsn, OWNER)

    def close(self) -> None:
        """Let go of everything."""
        self._outlet.close()
        self._store.close()


@dataclass(frozen=True)
class Round:
    """The three measurements of one round."""

    select: Cost
    produce: Cost
    relay: Cost

    @property
    def publish(self) -> float:
        """The relay's rate over the most that one process could do."""
        return self.relay.rate * (1 / self.select.rate + 1 / self.produce.rate)

    @property
    def cpu(self) -> float:
        """The relay's CPU over that of the two raw halves."""
        return self.relay.cpu_us / (self.select.cpu_us + self.produce.cpu_us)


def run_round(bench: Bench, relayed: Relayed, producer: Producer) -> Round:
    """The relay first, on rows that it has not seen; then the two halves on the same rows."""
    after = fill(bench, EVENTS, EVENT_BYTES)
    relay = bench.measure(relayed.publish)
    assert (
        bench.number(
            "SELECT count(*) FROM relay_stream JOIN cursor USING (tenant_id, catalog_id, history_epoch)"
            " WHERE published < position"
        )
        == 0
    )
    relayed.reconnect()
    select = bench.measure(lambda: select_raw(bench, after))
    messages = keep(bench, after)
    produce = bench.measure(lambda: produce_raw(producer, physical(bench.settings, EVENT.name), messages))
    return Round(select, produce, relay)


def claim_buffers(bench: Bench) -> int:
    """Pages of the costliest statement that looks for work, with nothing to find and an old snapshot held."""
    head = bench.number("SELECT max(id) FROM outbox")
    looks: list[tuple[str, str, dict[str, object]]] = [
        ("outbox", "find_news", {"head": head, "rows": BATCH}),
        ("relay_bucket", "list_leases", {"owner": OWNER}),
        ("relay_bucket", "claim_buckets", {"owner": OWNER, "wanted": 1}),
        ("relay_owner", "bury_owners", {}),
    ]
    with bench.connect() as connection:
        return max(_buffers(connection, file, name, parameters) for file, name, parameters in looks)


def _buffers(connection: psycopg.Connection[TupleRow], file: str, name: str, parameters: dict[str, object]) -> int:
    statement = b"EXPLAIN (ANALYZE, BUFFERS) " + load("assay_relay", file)[name].encode()
    lines = [str(row[0]) for row in connection.execute(statement, parameters)]
    line = next((line for line in lines if "Buffers:" in line), "")
    return sum(int(count) for count in re.findall(r"(?:hit|read)=(\d+)", line))


def held_snapshot(bench: Bench) -> psycopg.Connection[TupleRow]:
    """A reader that keeps every row version from here on."""
    connection = psycopg.connect(bench.database.admin_dsn)
    connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    connection.execute("SELECT count(*) FROM relay_stream")
    return connection


def build_old_rows(bench: Bench) -> None:
    """Rows that were published long ago."""
    for _ in range(ROWS // CHUNK):
        fill(bench, CHUNK, OLD_BYTES)
    bench.admin.execute(
        "UPDATE relay_stream AS s SET published = c.position, published_id = (SELECT max(id) FROM outbox)"
        " FROM cursor AS c WHERE (c.tenant_id, c.catalog_id) = (s.tenant_id, s.catalog_id)"
    )
    bench.admin.execute("VACUUM ANALYZE")


def measure_growth(bench: Bench, relayed: Relayed, producer: Producer, before: list[Round]) -> dict[str, float]:
    """Pages and WAL of a round over many old rows, over those without; empty if no old rows are asked for."""
    if not ROWS:
        return {}
    build_old_rows(bench)
    relayed.settle()
    after = run_round(bench, relayed, producer).relay
    pages = after.buffers / statistics.median(each.relay.buffers for each in before)
    wal = after.wal_bytes / statistics.median(each.relay.wal_bytes for each in before)
    return {"growth": max(pages, wal)}


def print_table(rounds: list[Round]) -> None:
    """For people."""
    print(f"{'round':>5} {'what':<8} {'events/s':>10} {'us ours':>8} {'us pg':>8} {'us broker':>9}")
    for n, each in enumerate(rounds, 1):
        for name, cost in (("select", each.select), ("produce", each.produce), ("relay", each.relay)):
            ours, postgres, broker = (seconds / EVENTS * 1e6 for seconds in cost.cpu)
            print(f"{n:>5} {name:<8} {cost.rate:>10.0f} {ours:>8.2f} {postgres:>8.2f} {broker:>9.2f}")


def main() -> None:
    """Measure, print, and end with the JSON line."""
    with started() as bench:
        found_streams(bench)
        relayed = Relayed(bench)
        producer = make_producer(bench.settings, "bench")
        fill(bench, 10 * STREAMS, EVENT_BYTES)
        relayed.settle()
        produce_raw(producer, physical(bench.settings, EVENT.name), keep(bench, 0))
        rounds = [run_round(bench, relayed, producer) for _ in range(ROUNDS)]
        with held_snapshot(bench):
            run_round(bench, relayed, producer)
            buffers = claim_buffers(bench)
        growth = measure_growth(bench, relayed, producer, rounds)
        relayed.close()
    print_table(rounds)
    ratios = {
        "publish": statistics.median(each.publish for each in rounds),
        "cpu": statistics.median(each.cpu for each in rounds),
        "wal_bytes": statistics.median(each.relay.wal_bytes / EVENTS for each in rounds),
        "buffers": buffers,
        **growth,
    }
    limits = {
        "select_rate": statistics.median(each.select.rate for each in rounds),
        "produce_rate": statistics.median(each.produce.rate for each in rounds),
    }
    samples = {"relay_rate": [round(each.relay.rate) for each in rounds], "rows": ROWS, "events": EVENTS}
    print(json.dumps({"bench": "relay", "ratios": ratios, "limits": limits, "samples": samples}))


if __name__ == "__main__":
    main()
