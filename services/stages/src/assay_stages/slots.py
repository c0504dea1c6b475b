"""The fast path of dedupe: a small table that remembers the last done job of each slot, and never decides alone.

An entry is written last, after commit and publication, and only for a job that is done. A hit may save the question to
Postgres; anything else (no entry, another job, another epoch) asks it. Losing entries costs time and nothing else.
"""

import zlib
from typing import Protocol

from assay_contracts.ids import JobId

SLOTS = 4_096
"""Slots per partition."""


class SlotTable(Protocol):
    """What a Faust table of bytes offers."""

    def get(self, key: bytes, /) -> bytes | None: ...
    def __setitem__(self, key: bytes, value: bytes, /) -> None: ...


class Slots:
    """Entries of one process; without a table every job asks Postgres."""

    def __init__(self, table: SlotTable | None) -> None:
        """`table` is None where settings turn the fast path off."""
        self._table = table

    def has_done(self, partition: int, epoch_ordinal: int, job_id: JobId) -> bool:
        """Whether this very job is known to be done in this epoch."""
        return self._table is not None and self._table.get(_key(partition, job_id)) == _entry(epoch_ordinal, job_id)

    def remember_done(self, partition: int, epoch_ordinal: int, job_id: JobId) -> None:
        """Note a job whose transaction is committed and whose next job was handed on or left to the sweeper."""
        if self._table is not None:
            self._table[_key(partition, job_id)] = _entry(epoch_ordinal, job_id)


def _key(partition: int, job_id: JobId) -> bytes:
    return f"{partition}:{zlib.crc32(job_id.encode()) % SLOTS}".encode()


def _entry(epoch_ordinal: int, job_id: JobId) -> bytes:
    return f"{epoch_ordinal} {job_id}".encode()
