"""Begins a new history epoch after a restore: close, wait, genesis snapshots, open."""

import asyncio
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import psycopg
from assay_contracts.ids import TenantId
from assay_resolver import epochs
from assay_resolver.epochs import Epoch, Genesis
from assay_resolver.snapshot import MEDIA_TYPE, READ_FACTS, FactRow, SnapshotFile
from assay_resolver.streams import Stream
from assay_runtime.evidence import EvidenceStore
from assay_runtime.settings import EvidenceSettings, KafkaSettings
from assay_runtime.witness import WitnessReader, read_mark
from confluent_kafka import KafkaException
from psycopg.rows import TupleRow

from assay_cli.errors import CommandError

BARRIER_SECONDS: Final = 60.0
WITNESS_SECONDS: Final = 10.0
_PAUSE_SECONDS: Final = 0.05
_FACTS_AT_ONCE: Final = 500
_NO_DIGEST: Final = bytes(32)


def advance(
    dsn: str, kafka: KafkaSettings, bucket: EvidenceSettings, because: str, on_step: Callable[[str], None]
) -> Epoch:
    """Close the open epoch and open the next, whose ordinal is above all that the witness has seen.

    dsn: the resolver database as `assay_operator`. Safe to repeat. CommandError: what was not done, and why.
    """
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SET transaction_timeout = 0")
        ordinal = _next_ordinal(connection, kafka)
        on_step("close")
        epochs.close(connection)
        _await_others(connection)
        on_step("snapshots")
        genesis = asyncio.run(_write_genesis(connection, bucket, f"history-{ordinal}"))
        on_step("open")
        with connection.transaction():
            return epochs.open_next(connection, ordinal, genesis, "operator", because)


def _next_ordinal(connection: psycopg.Connection[TupleRow], kafka: KafkaSettings) -> int:
    """A witness that cannot be read may know of an epoch that this database has lost."""
    database_id, mark = read_mark(connection)
    reader, deadline = WitnessReader(kafka, database_id), time.monotonic() + WITNESS_SECONDS
    try:
        while True:
            try:
                witness = reader.catch_up()
            except KafkaException as error:
                if time.monotonic() > deadline:
                    raise CommandError(f"the witness cannot be read, so no epoch is safe to open: {error}") from error
                time.sleep(_PAUSE_SECONDS)
            else:
                return max(mark.ordinal, witness.ordinal if witness else 0) + 1
    finally:
        reader.close()


def _await_others(connection: psycopg.Connection[TupleRow]) -> None:
    taken, deadline = epochs.barrier(connection), time.monotonic() + BARRIER_SECONDS
    while not epochs.is_past(connection, taken):
        if time.monotonic() > deadline:
            raise CommandError("somebody has not ended a transaction; the epoch is closed, run this again")
        time.sleep(_PAUSE_SECONDS)


async def _write_genesis(
    connection: psycopg.Connection[TupleRow], settings: EvidenceSettings, epoch: str
) -> list[Genesis]:
    """No epoch is open, so the facts stand still."""
    written: list[Genesis] = []
    with tempfile.TemporaryDirectory(prefix="assay-genesis-") as folder:
        path = Path(folder) / "facts"
        async with EvidenceStore(settings) as store:
            for tenant_id, catalog_id in epochs.list_catalogs(connection):
                genesis = _spool(connection, Stream(tenant_id, catalog_id, epoch), path)
                await store.put(TenantId(tenant_id), genesis.sha256, path, MEDIA_TYPE)
                written.append(genesis)
    return written


def _spool(connection: psycopg.Connection[TupleRow], stream: Stream, path: Path) -> Genesis:
    with path.open("wb") as file, connection.transaction(), connection.cursor(name="facts") as cursor:
        cursor.itersize = _FACTS_AT_ONCE
        spool = SnapshotFile(file, stream, 0, _NO_DIGEST)
        cursor.execute(READ_FACTS, stream.scope)
        for row in cursor:
            spool.add(FactRow(*row))
    return Genesis(stream.tenant_id, stream.catalog_id, spool.sha256, spool.bytes, spool.facts)
