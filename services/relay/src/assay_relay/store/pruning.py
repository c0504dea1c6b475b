"""The SQL of the process `prune`: what may go, and the partitions in which it lies, on one connection."""

from collections.abc import Collection, Generator
from contextlib import contextmanager
from typing import NamedTuple, cast
from uuid import UUID

from assay_resolver.streams import Stream
from assay_runtime.sql import load
from psycopg import sql
from pydantic import SecretStr

from assay_relay.store import connect

_SQL = load("assay_relay", "pruning")


class Limit(NamedTuple):
    """A stream whose first `floor` events are gone, with the running digest there; it may rise up to `until`."""

    stream: Stream
    floor: int
    digest: bytes
    until: int


class PrefixRow(NamedTuple):
    """One event behind a floor; `is_old`: it is past its retention age."""

    position: int
    event_id: UUID
    value: bytes
    is_old: bool


class Partition(NamedTuple):
    """A part of the outbox with the ids from `low` up to, and without, `high`; pending: its detach was interrupted."""

    table: str
    low: int
    high: int
    pending: bool


class Measures(NamedTuple):
    """The longest silence of a live consumer, events above all floors, standing leases, live consumers, rows kept."""

    silent_seconds: float
    events: int
    leases: int
    consumers: int
    kept: int


class PruneStore:
    """One connection; statements commit by themselves unless they run inside `control`."""

    def __init__(self, dsn: SecretStr) -> None:
        self._connection = connect(dsn, "relay prune")

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()

    @contextmanager
    def control(self) -> Generator[None]:
        """A transaction that holds the retention-control lock."""
        with self._connection.transaction():
            self._connection.execute(_SQL["take_control"])
            yield

    def find_limits(self, streams: Collection[Stream] | None = None) -> list[Limit]:
        """What may go, of these streams or of all; to be believed only under the control lock."""
        chosen = None if streams is None else list(streams)
        parameters = {
            "tenants": chosen and [stream.tenant_id for stream in chosen],
            "catalogs": chosen and [stream.catalog_id for stream in chosen],
            "epochs": chosen and [stream.history_epoch for stream in chosen],
        }
        rows = self._connection.execute(_SQL["find_limits"], parameters)
        return [Limit(Stream(*row[:3]), row[3], bytes(row[4]), row[5]) for row in rows]

    def read_prefix(self, limit: Limit, most: int, age_seconds: float) -> list[PrefixRow]:
        """The next events behind the floor, at most so many, in order."""
        parameters = {
            **_key(limit.stream),
            "after": limit.floor,
            "until": min(limit.until, limit.floor + most),
            "age_seconds": age_seconds,
        }
        rows = self._connection.execute(_SQL["read_prefix"], parameters, binary=True)
        return [PrefixRow(*row) for row in rows]

    def raise_floor(self, stream: Stream, until: int, digest: bytes) -> None:
        """Readers find nothing up to there any more."""
        self._connection.execute(_SQL["raise_floor"], {**_key(stream), "until": until, "digest": digest})

    def note_raise(self) -> None:
        """Pruning was here."""
        self._connection.execute(_SQL["note_raise"])

    def delete_expired(self) -> list[tuple[str, Stream, int]]:
        """Forget leases that expired some time ago: their id, stream and position."""
        rows = self._connection.execute(_SQL["delete_expired"])
        return [(str(row[0]), Stream(*row[1:4]), int(row[4])) for row in rows]

    def trim_kept(self) -> int:
        """Delete what was kept for laggards and lies below the floors now; how much it was."""
        return self._connection.execute(_SQL["trim_kept"]).rowcount

    def list_partitions(self) -> list[Partition]:
        """The outbox's partitions, oldest first."""
        return [Partition(*row) for row in self._connection.execute(_SQL["list_partitions"])]

    def list_detached(self) -> list[str]:
        """Tables that a crash left between detach and drop."""
        return [str(name) for (name,) in self._connection.execute(_SQL["list_detached"])]

    def count_needed(self, partition: Partition, most: int) -> tuple[int, int]:
        """Unpublished rows, and all rows above their floors, in a partition; at most `most` of one stream."""
        parameters = {"low": partition.low, "high": partition.high, "most": most}
        row = self._connection.execute(_SQL["count_needed"], parameters).fetchone()
        return (0, 0) if row is None else (int(row[0]), int(row[1]))

    def keep_needed(self, partition: Partition) -> int:
        """Copy what is still needed of a partition; how much it was."""
        parameters = {"low": partition.low, "high": partition.high}
        return self._connection.execute(_SQL["keep_needed"], parameters).rowcount

    def detach(self, partition: Partition, lock_milliseconds: int) -> None:
        """Take the partition out while others read and write; raises LockNotAvailable and stays pending, or undone."""
        how = sql.SQL("FINALIZE" if partition.pending else "CONCURRENTLY")
        statement = sql.SQL("ALTER TABLE outbox DETACH PARTITION {} {}").format(sql.Identifier(partition.table), how)
        self._connection.execute(sql.SQL("SET lock_timeout = {}").format(sql.Literal(lock_milliseconds)))
        try:
            self._connection.execute(statement)
        finally:
            self._connection.execute("RESET lock_timeout")

    def drop(self, table: str) -> int:
        """Remove a detached table, and save first what is needed of it and was not copied; how much that was."""
        name = sql.Identifier(table)
        with self._connection.transaction():
            saved = self._connection.execute(_RESCUE.format(name)).rowcount
            self._connection.execute(sql.SQL("DROP TABLE {}").format(name))
        return saved

    def read_sequence(self) -> int:
        """The last outbox id that was given out."""
        return self._number("read_sequence")

    def take_transaction(self) -> int:
        """A new transaction id."""
        return self._number("take_transaction")

    def read_horizon(self) -> int:
        """Every transaction below this id is over."""
        return self._number("read_horizon")

    def measure(self) -> Measures:
        """For the metrics."""
        row = self._connection.execute(_SQL["measure_retention"]).fetchone()
        assert row is not None, "an aggregate has one row"
        return Measures(*row)

    def list_silent(self, seconds: float) -> list[tuple[str, float]]:
        """Live consumers that have not reported for so long, and for how long."""
        rows = self._connection.execute(_SQL["list_silent"], {"seconds": seconds})
        return cast("list[tuple[str, float]]", rows.fetchall())

    def _number(self, statement: str) -> int:
        row = self._connection.execute(_SQL[statement]).fetchone()
        return 0 if row is None else int(row[0])


_RESCUE = sql.SQL(
    "INSERT INTO outbox_kept (tenant_id, catalog_id, history_epoch, position, id, event_id, value, created_at)"
    " SELECT o.tenant_id, o.catalog_id, o.history_epoch, o.position, o.id, o.event_id, o.value, o.created_at"
    " FROM cursor s LEFT JOIN stream_floor f USING (tenant_id, catalog_id, history_epoch)"
    " JOIN {} o ON (o.tenant_id, o.catalog_id, o.history_epoch) = (s.tenant_id, s.catalog_id, s.history_epoch)"
    " AND o.position > COALESCE(f.pruned_through, 0) ON CONFLICT DO NOTHING"
)
"""For a table whose name only the catalogue knows; a crash between detach and drop is why it is asked every time."""


def _key(stream: Stream) -> dict[str, object]:
    return {**stream.scope, "history_epoch": stream.history_epoch}
