"""The accepted history for rebuilds and auditors: pages that never have a hole, and what proves that one holds 1..n."""

from typing import Final, NamedTuple

from assay_resolver.streams import Connection, Stream, next_digest
from assay_runtime.logs import get_logger
from assay_runtime.postgres import AsyncPool, set_tenant

from assay_relay.api import access
from assay_relay.api.errors import Gone, Incomplete, NotFound, TooFar
from assay_relay.store import history as store
from assay_relay.store import retention
from assay_relay.store.history import EventRow
from assay_relay.store.retention import StreamState

PAGE_BYTES: Final = 4_000_000
MOST_HASHED: Final = 100_000

log = get_logger()


class Page(NamedTuple):
    """Consecutive events behind a position, and where the stream stands."""

    events: list[EventRow]
    state: StreamState


class Certificate(NamedTuple):
    """What a stream's first `position` events are: how many of them the history holds, and their running digest."""

    stream: Stream
    position: int
    digest: bytes
    held: int
    state: StreamState


async def stream_named(pool: AsyncPool, tenant_id: str, catalog_id: str, epoch: str | None) -> Stream:
    """The stream of a catalog in the named epoch, or in the open one. NotFound without an open one."""
    if epoch is not None:
        return Stream(tenant_id, catalog_id, epoch)
    async with pool.connection() as conn:
        found = await store.find_open_epoch(conn)
    if found is None:
        raise NotFound
    return Stream(tenant_id, catalog_id, found)


async def read_page(pool: AsyncPool, stream: Stream, after: int, limit: int) -> Page:
    """The events behind `after`, at most `limit`. NotFound, Gone below the floor, Incomplete.

    The floor is asked before the rows are read and, in a later statement, after: what was pruned or dropped in between
    shows in the second answer. Each statement has a snapshot of its own, so the copy of a laggard's row is seen before
    the row is gone.
    """
    async with access.seeing(pool, stream.tenant_id) as conn:
        before = await _state(conn, stream, after)
        until = min(before.head, after + limit)
        events = await store.read_page(conn, stream, after, until, PAGE_BYTES) if until > after else []
        state = await _state(conn, stream, after)
    expected = range(after + 1, after + 1 + len(events))
    if [event.position for event in events] != list(expected) or (until > after and not events):
        log.error("history.hole", **stream.scope, history_epoch=stream.history_epoch, position=after)
        raise Incomplete
    return Page(events, state)


async def certify(pool: AsyncPool, stream: Stream, position: int | None) -> Certificate:
    """Certify the first `position` events, by default all. NotFound, Gone (no digest is kept), TooFar."""
    async with pool.connection() as conn:
        await conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        await set_tenant(conn, stream.tenant_id)
        state = await _state(conn, stream, 0, check=False)
        wanted = state.head if position is None else position
        if wanted > state.head:
            raise NotFound
        digest = state.digest if wanted == state.head else await _digest_at(conn, stream, state, wanted)
        held = await store.count_changes(conn, stream, wanted)
    return Certificate(stream, wanted, digest, held, state)


async def _digest_at(conn: Connection, stream: Stream, state: StreamState, wanted: int) -> bytes:
    """From the nearest anchor at or below the position, over the events in between."""
    anchors = [(state.floor, state.floor_digest)] if state.floor <= wanted else []
    snapshot = await store.find_anchor(conn, stream, wanted)
    anchors += [snapshot] if snapshot is not None else []
    if not anchors or (max(anchors)[0] < state.floor and max(anchors)[0] != wanted):
        raise Gone("no digest is kept for this position", state.floor)
    position, digest = max(anchors)
    if wanted - position > MOST_HASHED:
        raise TooFar(MOST_HASHED)
    for row in await store.read_hashes(conn, stream, position, wanted):
        if row.position != position + 1:
            raise Incomplete
        position, digest = row.position, next_digest(digest, row.position, row.event_id, row.sha256)
    if position != wanted:
        raise Incomplete
    return digest


async def _state(conn: Connection, stream: Stream, after: int, *, check: bool = True) -> StreamState:
    state = await retention.find_stream(conn, stream)
    if state is None:
        raise NotFound
    if check and after < state.floor:
        raise Gone(f"the events up to {state.floor} are pruned", state.floor)
    return state
