"""The SQL of the processes `events` and `jobs`: named statements on one connection, each a transaction of its own."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import LiteralString, NamedTuple, TypeAlias, cast
from uuid import UUID

import psycopg
from assay_resolver.streams import Stream
from assay_runtime.postgres import session_arguments
from assay_runtime.sql import load
from assay_runtime.witness import Mark as HistoryMark
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow
from psycopg.types.multirange import Multirange
from pydantic import SecretStr

_OWNER = load("assay_relay", "relay_owner")
_BUCKET = load("assay_relay", "relay_bucket")
_STREAM = load("assay_relay", "relay_stream")
_OUTBOX = load("assay_relay", "outbox")
_JOB = load("assay_relay", "job")
_LETTER = load("assay_relay", "dead_letter")
_CLOCK = load("assay_relay", "history_clock")


class StreamRow(NamedTuple):
    """A stream's durable mark, and the last position known to exist."""

    stream: Stream
    bucket: int
    published: int
    published_id: int
    position: int


class Want(NamedTuple):
    """A request for the events of one stream with `after < position <= until`; their ids are above `after_id`."""

    stream: Stream
    after: int
    until: int
    after_id: int


EventRow: TypeAlias = tuple[int, int, int, str, bytes]
"""One outbox row: which want it answers (from 1), outbox id, position, event id, the message's value."""


class Mark(NamedTuple):
    """A stream is published through `position`, whose outbox id is given, as seen in the term `lease_epoch`."""

    stream: Stream
    lease_epoch: int
    position: int
    outbox_id: int
    held: str | None = None


class News(NamedTuple):
    """What lies behind the head: streams with their last position, the new head, and ids not visible yet."""

    streams: dict[Stream, int]
    head: int
    gaps: list[tuple[int, int]]


class Store:
    """One connection. Commits need not wait for the disk: a mark or a lease that a crash takes back does no harm."""

    def __init__(self, dsn: SecretStr, owner: str) -> None:
        self._owner = owner
        self._connection = connect(dsn, "relay events")
        self._connection.execute("SET synchronous_commit = off")

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()

    def renew_owner(self, lease_seconds: float) -> None:
        """Heartbeat of all leases of this relay."""
        self._connection.execute(_OWNER["renew_owner"], {"owner": self._owner, "lease_seconds": lease_seconds})

    def bury_owners(self) -> None:
        """Free the buckets of relays that stopped renewing."""
        self._connection.execute(_OWNER["bury_owners"])

    def leave_owners(self) -> None:
        """Give back everything at once."""
        self._connection.execute(_OWNER["leave_owners"], {"owner": self._owner})

    def count_owners(self) -> int:
        """How many relays are alive."""
        return self._number(self._connection.execute(_OWNER["count_owners"]))

    def count_buckets(self) -> int:
        """How many buckets exist."""
        return self._number(self._connection.execute(_BUCKET["count_buckets"]))

    def list_leases(self) -> dict[int, int]:
        """Bucket to lease epoch, of this relay."""
        return dict(self._connection.execute(_BUCKET["list_leases"], {"owner": self._owner}).fetchall())

    def claim_buckets(self, wanted: int) -> int:
        """Take up to `wanted` free buckets; how many it were."""
        parameters = {"owner": self._owner, "wanted": wanted}
        return self._connection.execute(_BUCKET["claim_buckets"], parameters).rowcount

    def release_buckets(self, buckets: Collection[int]) -> None:
        """Give back some."""
        self._connection.execute(_BUCKET["release_buckets"], {"owner": self._owner, "buckets": list(buckets)})

    def register_streams(self, streams: Collection[Stream]) -> None:
        """Give every one of these that has no bucket its bucket."""
        self._connection.execute(_STREAM["register_streams"], _names(streams))

    def list_unregistered(self) -> list[Stream]:
        """Streams with events and without a bucket."""
        return [Stream(*row) for row in self._connection.execute(_STREAM["list_unregistered"])]

    def list_behind(self, buckets: Collection[int]) -> list[StreamRow]:
        """All streams of these buckets that have unpublished events."""
        return _stream_rows(self._connection.execute(_STREAM["list_behind"], {"buckets": list(buckets)}))

    def find_streams(self, streams: dict[Stream, int]) -> list[StreamRow]:
        """The durable state of streams with news; those without a bucket are absent."""
        parameters = {**_names(streams), "positions": list(streams.values())}
        return _stream_rows(self._connection.execute(_STREAM["find_streams"], parameters))

    def mark_published(self, marks: Sequence[Mark]) -> None:
        """Move marks forward, in the terms that still hold."""
        parameters: dict[str, object] = {
            **_names(mark.stream for mark in marks),
            "owner": self._owner,
            "terms": [mark.lease_epoch for mark in marks],
            "positions": [mark.position for mark in marks],
            "ids": [mark.outbox_id for mark in marks],
            "helds": [mark.held for mark in marks],
        }
        self._connection.execute(_STREAM["mark_published"], parameters)

    def hold_stream(self, stream: Stream, lease_epoch: int, reason: str | None) -> None:
        """Write on the stream's row why it does not go on."""
        key = {**stream.scope, "history_epoch": stream.history_epoch}
        parameters = {**key, "owner": self._owner, "lease_epoch": lease_epoch, "reason": reason}
        self._connection.execute(_STREAM["hold_stream"], parameters)

    def read_sequence(self) -> int:
        """The last outbox id that was given out."""
        return self._number(self._connection.execute(_OUTBOX["read_sequence"]))

    def take_transaction(self) -> int:
        """A new transaction id."""
        return self._number(self._connection.execute(_OUTBOX["take_transaction"]))

    def read_horizon(self) -> int:
        """Every transaction below this id is over."""
        return self._number(self._connection.execute(_OUTBOX["read_horizon"]))

    def find_news(self, head: int, rows: int) -> News:
        """What lies in the next `rows` visible rows behind `head`."""
        found = self._connection.execute(_OUTBOX["find_news"], {"head": head, "rows": rows}, binary=True).fetchall()
        streams = {Stream(*row[:3]): int(row[3]) for row in found}
        gaps = [gap for row in found if row[5] is not None for gap in _ranges(row[5])]
        return News(streams, max((int(row[4]) for row in found), default=head), gaps)

    def find_late(self, gaps: Sequence[tuple[int, int]]) -> dict[Stream, int]:
        """What became visible inside the gaps, each from its low id up to, and without, its high one."""
        parameters = {"lows": [low for low, _ in gaps], "highs": [high for _, high in gaps]}
        return {Stream(*row[:3]): int(row[3]) for row in self._connection.execute(_OUTBOX["find_late"], parameters)}

    def read_events(self, wants: Sequence[Want]) -> list[EventRow]:
        """The wanted events, grouped by want and in position order."""
        parameters = {**_starts(wants), "untils": [want.until for want in wants]}
        rows = self._connection.execute(_OUTBOX["read_events"], parameters, binary=True).fetchall()
        return cast("list[EventRow]", rows)

    def measure_age(self, wants: Sequence[Want]) -> float:
        """Seconds that the oldest next event of these streams has waited."""
        row = self._connection.execute(_OUTBOX["measure_age"], _starts(wants)).fetchone()
        return 0.0 if row is None else float(row[0])

    def tick(self) -> tuple[UUID, HistoryMark]:
        """Raise the history clock and wait for the disk: which database this is, and how far it has come."""
        with self._connection.transaction():
            self._connection.execute("SET LOCAL synchronous_commit = on")
            row = self._connection.execute(_CLOCK["raise_clock"]).fetchone()
        assert row is not None, "a migration writes the clock and the first epoch"
        return row[0], HistoryMark(*row[1:])

    def add_partitions(self, ahead: int) -> int:
        """Make outbox partitions for ids to come; how many were missing."""
        return self._number(self._connection.execute(_OUTBOX["add_partitions"], {"ahead": ahead}))

    @staticmethod
    def _number(cursor: psycopg.Cursor[TupleRow]) -> int:
        row = cursor.fetchone()
        return 0 if row is None else int(row[0])


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A job that this sweeper may send now, and why it has to."""

    reason: str
    tenant_id: str
    job_id: str
    attempt: int
    envelope_id: UUID
    envelope_ts: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class SentJob:
    """Where the broker keeps the message of one attempt of a job."""

    tenant_id: str
    job_id: str
    attempt: int
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Past:
    """Offsets from `low` up to, and without, `high` of one partition that this stage will not read (again)."""

    reason: str
    stage: str
    partition: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter; `headers` is a JSON array of [name, base64 or null]."""

    topic_id: UUID
    partition: int
    offset: int
    topic: str
    reason: str
    cause: str
    key: bytes | None
    value: bytes | None
    headers: str


class SweepStore:
    """One connection. A claim ends by itself after `claim_seconds`; jobs are left alone until `grace_seconds` late."""

    def __init__(self, dsn: SecretStr, rows: int, claim_seconds: float, grace_seconds: float) -> None:
        self._connection = connect(dsn, "relay jobs")
        self._claim = {"rows": rows, "claim_seconds": claim_seconds, "grace_seconds": grace_seconds}

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()

    def claim_unsent(self) -> list[ClaimedJob]:
        """Due jobs without a place in the log."""
        return self._claimed(_JOB["claim_unsent"], {})

    def find_reach(self, topic_id: UUID, places: Sequence[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """By stage and partition, the highest offset that an open job is recorded at."""
        parameters: dict[str, object] = {
            "topic_id": topic_id,
            "stages": [stage for stage, _ in places],
            "partitions": [partition for _, partition in places],
        }
        rows = self._connection.execute(_JOB["find_reach"], parameters)
        return {(str(stage), int(partition)): int(offset) for stage, partition, offset in rows}

    def claim_past(self, topic_id: UUID, past: Sequence[Past]) -> list[ClaimedJob]:
        """Open jobs whose place lies in one of these ranges."""
        ranges: dict[str, object] = {
            "topic_id": topic_id,
            "reasons": [each.reason for each in past],
            "stages": [each.stage for each in past],
            "partitions": [each.partition for each in past],
            "lows": [each.low for each in past],
            "highs": [each.high for each in past],
        }
        return self._claimed(_JOB["claim_past"], ranges)

    def claim_foreign(self, topic_id: UUID, stages: Sequence[str]) -> list[ClaimedJob]:
        """Open jobs whose place is in another topic than this."""
        return self._claimed(_JOB["claim_foreign"], {"topic_id": topic_id, "stages": list(stages)})

    def record_sends(self, topic_id: UUID, sent: Sequence[SentJob]) -> None:
        """Note the places, where the job is still open in that attempt."""
        parameters: dict[str, object] = {
            "topic_id": topic_id,
            "tenants": [each.tenant_id for each in sent],
            "jobs": [each.job_id for each in sent],
            "attempts": [each.attempt for each in sent],
            "partitions": [each.partition for each in sent],
            "offsets": [each.offset for each in sent],
        }
        self._connection.execute(_JOB["record_sends"], parameters)

    def give_back(self, claimed: Sequence[ClaimedJob]) -> None:
        """End these claims."""
        parameters = {"tenants": [job.tenant_id for job in claimed], "jobs": [job.job_id for job in claimed]}
        self._connection.execute(_JOB["give_back"], parameters)

    def claim_letters(self) -> list[Letter]:
        """The oldest dead letters that are on no topic."""
        return [Letter(*row) for row in self._connection.execute(_LETTER["claim_letters"], self._claim)]

    def mark_letters(self, letters: Sequence[Letter]) -> None:
        """These are on their topic."""
        self._connection.execute(_LETTER["mark_letters"], _places(letters))

    def return_letters(self, letters: Sequence[Letter]) -> None:
        """End these claims."""
        self._connection.execute(_LETTER["return_letters"], _places(letters))

    def _claimed(self, statement: LiteralString, parameters: Mapping[str, object]) -> list[ClaimedJob]:
        return [ClaimedJob(*row) for row in self._connection.execute(statement, {**self._claim, **parameters})]


def connect(dsn: SecretStr, name: str) -> psycopg.Connection[TupleRow]:
    """A connection of one process, on which each statement commits by itself."""
    conninfo = make_conninfo(dsn.get_secret_value(), **session_arguments(dsn, name))
    return psycopg.connect(conninfo, autocommit=True, prepare_threshold=1)


def _places(letters: Sequence[Letter]) -> dict[str, object]:
    return {
        "topic_ids": [letter.topic_id for letter in letters],
        "partitions": [letter.partition for letter in letters],
        "offsets": [letter.offset for letter in letters],
    }


def _names(streams: Iterable[Stream]) -> dict[str, object]:
    keys = [(stream.tenant_id, stream.catalog_id, stream.history_epoch) for stream in streams]
    return {
        "tenants": [tenant for tenant, _, _ in keys],
        "catalogs": [catalog for _, catalog, _ in keys],
        "epochs": [epoch for _, _, epoch in keys],
    }


def _starts(wants: Sequence[Want]) -> dict[str, object]:
    return {
        **_names(want.stream for want in wants),
        "afters": [want.after for want in wants],
        "after_ids": [want.after_id for want in wants],
    }


def _stream_rows(cursor: psycopg.Cursor[TupleRow]) -> list[StreamRow]:
    return [StreamRow(Stream(*row[:3]), *row[3:]) for row in cursor]


def _ranges(gaps: Multirange[int]) -> list[tuple[int, int]]:
    return [(gap.lower, gap.upper) for gap in gaps if gap.lower is not None and gap.upper is not None]
