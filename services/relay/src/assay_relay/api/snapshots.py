"""A consistent snapshot of accepted facts at a position, as an immutable object in the bucket.

The order, and what a crash leaves: first a lease at the floor of now, so that nothing behind the snapshot goes while it
is written; then one repeatable-read transaction reads the cursor (position P, digest at P) and all facts, tombstones
included, into a spool file; then the object is put under its hash, and a row names it; only then the lease moves to P.
A crash before the row leaves bytes that nobody names and a lease that expires; after it, a snapshot for anyone.
"""

import tempfile
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

from assay_contracts.evidence import evidence_uri
from assay_contracts.ids import TenantId
from assay_resolver.snapshot import MEDIA_TYPE, SnapshotFile
from assay_resolver.streams import Connection, Stream
from assay_runtime.evidence import EvidenceStore
from assay_runtime.failpoints import failpoint
from assay_runtime.postgres import AsyncPool, session_arguments, set_tenant
from psycopg import AsyncConnection, sql
from psycopg.conninfo import make_conninfo

from assay_relay.api import access, retention
from assay_relay.api.errors import NotFound
from assay_relay.api.retention import Lease
from assay_relay.settings import ApiSettings
from assay_relay.store import history as store
from assay_relay.store import retention as retention_store
from assay_relay.store.history import SnapshotRow


class Taker:
    """Takes snapshots for one request."""

    def __init__(self, pool: AsyncPool, bucket: EvidenceStore, settings: ApiSettings) -> None:
        self._pool = pool
        self._bucket = bucket
        self._settings = settings

    async def take(self, stream: Stream, purpose: str, held_by: str, seconds: float) -> tuple[SnapshotRow, Lease]:
        """The snapshot at the present head, and a lease from there on. NotFound."""
        lease = await retention.create_lease(self._pool, stream, None, purpose, held_by, seconds)
        failpoint("snapshot.after_lease")
        with tempfile.TemporaryDirectory(prefix="assay-snapshot-") as folder:
            path = Path(folder) / "facts"
            row = await self._write(stream, path)
            failpoint("snapshot.after_read")
            await self._bucket.put(stream.tenant_id, row.sha256, path, MEDIA_TYPE)
        failpoint("snapshot.after_put")
        async with access.seeing(self._pool, stream.tenant_id) as conn:
            await store.insert_snapshot(conn, stream, row)
            standing = await store.find_snapshot(conn, stream, row.position)
        assert standing is not None, "it was just written"
        moved = await retention.move_lease(self._pool, stream.tenant_id, lease.lease_id, row.position, seconds)
        return standing, moved

    async def _write(self, stream: Stream, path: Path) -> SnapshotRow:
        """One transaction with a time limit of its own; what it wrote and at which position."""
        dsn = self._settings.dsn
        conninfo = make_conninfo(dsn.get_secret_value(), **session_arguments(dsn, "relay snapshot"))
        limit = sql.SQL("SET transaction_timeout = {}").format(int(self._settings.snapshot_seconds * 1_000))
        async with await AsyncConnection.connect(conninfo) as conn:
            await conn.set_autocommit(True)
            await conn.execute(limit)
            await conn.set_autocommit(False)
            await conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            await set_tenant(conn, stream.tenant_id)
            return await self._spool(conn, stream, path)

    async def _spool(self, conn: Connection, stream: Stream, path: Path) -> SnapshotRow:
        state = await retention_store.find_stream(conn, stream)
        if state is None:
            raise NotFound
        with path.open("wb") as file:
            spool = SnapshotFile(file, stream, state.head, state.digest)
            async for fact in store.read_facts(conn, stream):
                spool.add(fact)
        return SnapshotRow(
            position=state.head,
            digest=state.digest,
            sha256=spool.sha256,
            bytes=spool.bytes,
            facts=spool.facts,
            is_genesis=False,
            created_at=datetime.now(UTC),
        )


async def stream_object(bucket: EvidenceStore, tenant_id: str, row: SnapshotRow, first: int) -> AsyncIterator[bytes]:
    """The object's bytes from one on."""
    async with bucket.open(evidence_uri(TenantId(tenant_id), row.sha256), first) as chunks:
        async for chunk in chunks:
            yield chunk
