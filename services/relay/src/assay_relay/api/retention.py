"""What a caller may do to retention; each act is one transaction that begins with the retention-control lock.

Order of locks: the control row, then rows of consumers, progress, leases and floors. No act touches a writer's cursor
row or a relay's row, so neither decisions nor publishing ever wait for retention.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from assay_contracts.ids import uuid7
from assay_resolver.streams import Connection, Stream
from assay_runtime.failpoints import failpoint
from assay_runtime.logs import get_logger
from assay_runtime.postgres import AsyncPool

from assay_relay import metrics
from assay_relay.api import access
from assay_relay.api.errors import Gone, NotFound, RegisteredOtherwise, StillOpen
from assay_relay.store import retention as store
from assay_relay.store.retention import ConsumerKind, ConsumerRow, Keeper, LeaseRow, StreamState

log = get_logger()

Outcome = Literal["moved", "older", "unknown_stream", "foreign_epoch", "beyond_head", "below_floor"]


class Registration(NamedTuple):
    """Who wants to be asked before anything is pruned. catalogs: (tenant, catalog) pairs, None for every stream."""

    name: str
    kind: ConsumerKind
    catalogs: Sequence[tuple[str, str]] | None


class Registered(NamedTuple):
    """A registration: whether it is new, and what is gone of its streams; of all others nothing is."""

    is_new: bool
    floors: list[tuple[Stream, int]]


class Stand(NamedTuple):
    """Where a consumer stands in a stream after its report: what is acknowledged, and what is gone."""

    stream: Stream
    outcome: Outcome
    acknowledged: int
    floor: int
    head: int


class Lease(NamedTuple):
    """A lease as it stands now."""

    lease_id: str
    stream: Stream
    position: int
    expires_at: datetime


class Kept(NamedTuple):
    """What is kept of a stream, and by whom; `released_by`: it was given up by an explicit act."""

    stream: Stream
    state: StreamState
    keepers: list[Keeper]
    released_by: str | None


async def register(pool: AsyncPool, wanted: Registration, actor: str) -> Registered:
    """Register a consumer, or find it registered so before. RegisteredOtherwise, NotFound (a catalog)."""
    async with pool.connection() as conn:
        await store.take_control(conn)
        failpoint("retention.locked")
        standing = await store.find_consumer(conn, wanted.name)
        if standing is None:
            await _insert(conn, wanted, actor)
        else:
            await _compare(conn, wanted, standing)
        floors = await store.list_raised_floors(conn)
        failpoint("retention.before_commit")
    if standing is None:
        log.info("consumer.registered", name=wanted.name, kind=wanted.kind)
    chosen = None if wanted.catalogs is None else set(wanted.catalogs)
    mine = [one for one in floors if chosen is None or (one[0].tenant_id, one[0].catalog_id) in chosen]
    return Registered(standing is None, mine)


async def _compare(conn: Connection, wanted: Registration, standing: ConsumerRow) -> None:
    """The same name must mean the same; the catalogs of each tenant show only in its own turn."""
    if (standing.kind, standing.every_stream) != (wanted.kind, wanted.catalogs is None):
        raise _otherwise(standing)
    catalogs = wanted.catalogs or ()
    for tenant_id in sorted({tenant for tenant, _ in catalogs}):
        await access.see(conn, Stream(tenant_id, "", ""))
        seen = await store.find_consumer(conn, wanted.name)
        if seen is None or set(seen.catalogs) != {f"{one}/{catalog}" for one, catalog in catalogs if one == tenant_id}:
            raise _otherwise(standing)


async def _insert(conn: Connection, wanted: Registration, actor: str) -> None:
    await store.insert_consumer(conn, wanted.name, wanted.kind, actor, every_stream=wanted.catalogs is None)
    for tenant_id, catalog_id in sorted(set(wanted.catalogs or ())):
        await access.see(conn, Stream(tenant_id, catalog_id, ""))
        if not await store.has_catalog(conn, tenant_id, catalog_id):
            raise NotFound
        await store.insert_consumer_catalog(conn, wanted.name, tenant_id, catalog_id)


def _otherwise(standing: ConsumerRow) -> RegisteredOtherwise:
    return RegisteredOtherwise(standing.kind, "every stream" if standing.every_stream else "some catalogs")


async def unregister(pool: AsyncPool, name: str, actor: str, because: str) -> None:
    """Let pruning go on without this consumer, loudly and for the record. NotFound."""
    async with pool.connection() as conn:
        await store.take_control(conn)
        if await store.find_consumer(conn, name) is None:
            raise NotFound
        await store.delete_consumer(conn, name)
        await store.insert_act(conn, actor, "unregister", name, because)
    metrics.CONSUMERS_REMOVED.inc()
    log.error("consumer.unregistered", name=name, owner=actor, why=because)


async def report(pool: AsyncPool, name: str, positions: Sequence[tuple[Stream, int]]) -> list[Stand]:
    """Take a consumer's durable progress: older positions change nothing, foreign ones are refused. NotFound."""
    ordered = sorted(positions, key=lambda one: (one[0].tenant_id, one[0].catalog_id, one[0].history_epoch))
    async with pool.connection() as conn:
        await store.take_control(conn)
        failpoint("retention.locked")
        if await store.find_consumer(conn, name) is None:
            raise NotFound
        stands = [await _take(conn, name, stream, position) for stream, position in ordered]
        await store.note_report(conn, name)
        failpoint("retention.before_commit")
    for stand in stands:
        if stand.outcome not in ("moved", "older"):
            metrics.PROGRESS_REFUSED.labels(stand.outcome).inc()
            log.warning("progress.refused", name=name, reason=stand.outcome, history_epoch=stand.stream.history_epoch)
    return stands


async def _take(conn: Connection, name: str, stream: Stream, position: int) -> Stand:
    await access.see(conn, stream)
    state = await store.find_stream(conn, stream)
    if state is None:
        return Stand(stream, "unknown_stream", 0, 0, 0)
    before = await store.find_progress(conn, name, stream)
    standing = state.floor if before is None else before
    refusal = _refusal(state, position)
    if refusal is None and (before is None or position > before):
        await store.move_progress(conn, name, stream, position)
        return Stand(stream, "moved", position, state.floor, state.head)
    return Stand(stream, refusal or "older", standing, state.floor, state.head)


def _refusal(state: StreamState, position: int) -> Outcome | None:
    if state.epoch_state != "open":
        return "foreign_epoch"
    if position > state.head:
        return "beyond_head"
    return "below_floor" if position < state.floor else None


async def create_lease(
    pool: AsyncPool, stream: Stream, position: int | None, purpose: str, held_by: str, seconds: float
) -> Lease:
    """Pin what is above a position, by default above the floor of now. Gone if that is below the floor; NotFound."""
    async with access.seeing(pool, stream.tenant_id) as conn:
        await store.take_control(conn)
        failpoint("retention.locked")
        state = await store.find_stream(conn, stream)
        if state is None:
            raise NotFound
        pinned = state.floor if position is None else min(position, state.head)
        if pinned < state.floor:
            raise Gone(f"the events up to {state.floor} are pruned", state.floor)
        lease_id = f"lease_{uuid7().hex}"
        expires_at = await store.insert_lease(conn, lease_id, stream, pinned, purpose, held_by, seconds)
        failpoint("retention.before_commit")
    return Lease(lease_id, stream, pinned, expires_at)


async def move_lease(pool: AsyncPool, tenant_id: str, lease_id: str, position: int, seconds: float) -> Lease:
    """Renew a lease, and move its pin forward; an older position changes nothing. NotFound, Gone once it expired."""
    async with access.seeing(pool, tenant_id) as conn:
        await store.take_control(conn)
        lease = await _lease(conn, lease_id)
        state = await store.find_stream(conn, lease.stream)
        assert state is not None, "a lease has a stream"
        moved = await store.move_lease(conn, lease_id, min(position, state.head), seconds)
        if moved is None:
            raise Gone("the lease has expired", state.floor)
    return Lease(lease_id, lease.stream, *moved)


async def release_lease(pool: AsyncPool, tenant_id: str, lease_id: str) -> None:
    """Give a lease back, expired or not. NotFound."""
    async with access.seeing(pool, tenant_id) as conn:
        await store.take_control(conn)
        await _lease(conn, lease_id)
        await store.delete_lease(conn, lease_id)


async def _lease(conn: Connection, lease_id: str) -> LeaseRow:
    lease = await store.find_lease(conn, lease_id)
    if lease is None:
        raise NotFound
    return lease


async def release_stream(pool: AsyncPool, stream: Stream, actor: str, because: str) -> None:
    """Say that no consumer needs a stream of a closed epoch any more. NotFound, StillOpen."""
    async with access.seeing(pool, stream.tenant_id) as conn:
        await store.take_control(conn)
        state = await store.find_stream(conn, stream)
        if state is None:
            raise NotFound
        if state.epoch_state == "open":
            raise StillOpen
        await store.release_stream(conn, stream, actor)
        subject = f"{stream.tenant_id}/{stream.catalog_id}/{stream.history_epoch}"
        await store.insert_act(conn, actor, "release", subject, because)
    log.error("stream.released", **stream.scope, history_epoch=stream.history_epoch, owner=actor, why=because)


async def show(pool: AsyncPool, stream: Stream) -> Kept:
    """What is kept of a stream, why, because of whom, and until when. NotFound."""
    async with access.seeing(pool, stream.tenant_id) as conn:
        state = await store.find_stream(conn, stream)
        if state is None:
            raise NotFound
        keepers = await store.list_keepers(conn, stream)
        return Kept(stream, state, keepers, await store.find_release(conn, stream))
