"""All accepted facts of a catalog as lines of JSON: a head, then each aggregate's latest change, tombstones too."""

import hashlib
import json
from datetime import datetime
from typing import BinaryIO, Final, LiteralString, NamedTuple
from uuid import UUID

from assay_contracts.timestamps import timestamp
from assay_runtime.sql import load

from assay_resolver.streams import Stream

VERSION: Final = "history.snapshot/1"
MEDIA_TYPE: Final = "application/x-ndjson"
READ_FACTS: Final[LiteralString] = load("assay_resolver", "snapshot")["read_facts"]
"""Takes a stream's `scope`; each row makes a FactRow. To be read in one snapshot with the stream's cursor."""


class FactRow(NamedTuple):
    """The latest change of one aggregate: its whole state, or its tombstone. `data` is the event's, as JSON text."""

    aggregate: str
    id: str
    revision: int
    type: str
    decision_id: str
    event_id: UUID
    history_epoch: str
    position: int
    decided_at: datetime
    data: str


class SnapshotFile:
    """Lines on their way to the bucket, counted and hashed."""

    def __init__(self, file: BinaryIO, stream: Stream, position: int, digest: bytes) -> None:
        """Begins with the head: the stream, the position, and the stream's running digest there."""
        self._file = file
        self._sha256 = hashlib.sha256()
        self.bytes = 0
        self.facts = 0
        self._write(
            {
                "schema_version": VERSION,
                "tenant_id": stream.tenant_id,
                "catalog_id": stream.catalog_id,
                "history_epoch": stream.history_epoch,
                "position": position,
                "digest": digest.hex(),
            }
        )

    @property
    def sha256(self) -> str:
        """Of all lines so far."""
        return self._sha256.hexdigest()

    def add(self, row: FactRow) -> None:
        """One more fact."""
        self._write(
            {
                "aggregate": {"type": row.aggregate, "id": row.id},
                "revision": row.revision,
                "type": row.type,
                "decision_id": row.decision_id,
                "event_id": f"evt_{row.event_id.hex}",
                "history_epoch": row.history_epoch,
                "position": row.position,
                "occurred_at": timestamp(row.decided_at),
                "data": json.loads(row.data),
            }
        )
        self.facts += 1

    def _write(self, document: dict[str, object]) -> None:
        line = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        self._file.write(line)
        self._sha256.update(line)
        self.bytes += len(line)
