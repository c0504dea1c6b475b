"""Routes about the history itself: streams, their events, what proves them, snapshots, and what keeps them."""

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated

from assay_resolver.snapshot import MEDIA_TYPE
from assay_resolver.streams import Stream
from assay_runtime.http import Credential, needs
from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse

from assay_relay.api import access, history, retention, snapshots, views
from assay_relay.api.context import PAGE, AppContext, CatalogPath, EpochQuery, Limit, TenantPath
from assay_relay.api.errors import NotFound
from assay_relay.store import history as history_store
from assay_relay.store import retention as store

STREAMS_AT_ONCE = 200

router = APIRouter(prefix="/v1", tags=["history"])


@router.get("/epochs")
async def list_epochs(
    context: AppContext, credential: Annotated[Credential, needs("history:read")]
) -> views.EpochsView:
    """The incarnations of the history, oldest first; one at most is open."""
    async with context.pool.connection() as connection:
        found = await history_store.list_epochs(connection)
    return views.EpochsView(
        epochs=[views.EpochView(ordinal=one.ordinal, name=one.name, state=one.state) for one in found]
    )


@router.get("/streams")
async def list_streams(
    context: AppContext,
    credential: Annotated[Credential, needs("history:read")],
    after: Annotated[str, Query(max_length=200, description="tenant/catalog/epoch: the `next` of a page.")] = "",
) -> views.StreamsView:
    """Every stream that the key may see, with its ends and digests."""
    start = Stream(*[*after.split("/", 2), "", "", ""][:3])
    async with access.seeing(context.pool, credential.tenant_id) as connection:
        names = await store.list_streams(connection, credential.tenant_id, start, STREAMS_AT_ONCE)
        streams: list[views.StreamView] = []
        for stream in names:
            await access.see(connection, stream)
            state = await store.find_stream(connection, stream)
            if state is not None:
                streams.append(views.stream_view(stream, state))
    last = "/".join(views.ref(names[-1]).values()) if len(names) == STREAMS_AT_ONCE else None
    return views.StreamsView(streams=streams, next=last)


@router.get("/streams/{tenant_id}/{catalog_id}/events")
async def read_events(
    context: AppContext,
    credential: Annotated[Credential, needs("history:read")],
    tenant_id: TenantPath,
    catalog_id: CatalogPath,
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Limit = PAGE,
    epoch: EpochQuery = None,
) -> views.EventsView:
    """Consecutive events behind a position, none missing; 410 for what is gone."""
    access.check_access(credential, tenant_id)
    stream = await history.stream_named(context.pool, tenant_id, catalog_id, epoch)
    return views.events_view(stream, await history.read_page(context.pool, stream, after, limit))


@router.get("/streams/{tenant_id}/{catalog_id}/certificate")
async def certify(
    context: AppContext,
    credential: Annotated[Credential, needs("history:read")],
    tenant_id: TenantPath,
    catalog_id: CatalogPath,
    position: Annotated[int | None, Query(ge=0, le=2**53)] = None,
    epoch: EpochQuery = None,
) -> views.CertificateView:
    """What proves that somebody holds 1..position: the count and the running digest; by default of all."""
    access.check_access(credential, tenant_id)
    stream = await history.stream_named(context.pool, tenant_id, catalog_id, epoch)
    return views.certificate_view(await history.certify(context.pool, stream, position))


@router.get("/streams/{tenant_id}/{catalog_id}/retention")
async def show_retention(
    context: AppContext,
    credential: Annotated[Credential, needs("retention:read")],
    tenant_id: TenantPath,
    catalog_id: CatalogPath,
    epoch: EpochQuery = None,
) -> views.KeptView:
    """What is kept, why, because of whom, and until when."""
    access.check_access(credential, tenant_id)
    stream = await history.stream_named(context.pool, tenant_id, catalog_id, epoch)
    return views.kept_view(await retention.show(context.pool, stream))


@router.delete("/streams/{tenant_id}/{catalog_id}/retention", status_code=HTTPStatus.NO_CONTENT)
async def release_stream(
    context: AppContext,
    credential: Annotated[Credential, needs("retention:admin")],
    tenant_id: TenantPath,
    catalog_id: CatalogPath,
    epoch: Annotated[str, Query(pattern=r"^[A-Za-z0-9._-]{1,64}$")],
    because: Annotated[str, Query(min_length=1, max_length=1_000)],
) -> None:
    """Say that no consumer needs a stream of a closed epoch any more; kept for ever with its reason."""
    access.check_service(credential)
    stream = Stream(tenant_id, catalog_id, epoch)
    await retention.release_stream(context.pool, stream, access.actor_of(credential), because)


@router.post("/streams/{tenant_id}/{catalog_id}/snapshots", status_code=HTTPStatus.CREATED)
async def take_snapshot(
    context: AppContext,
    credential: Annotated[Credential, needs("history:read", "history:lease")],
    tenant_id: TenantPath,
    catalog_id: CatalogPath,
    body: views.Leasing,
) -> views.SnapshotView:
    """All accepted facts at one position, and a lease that pins what follows it."""
    access.check_access(credential, tenant_id)
    stream = await history.stream_named(context.pool, tenant_id, catalog_id, None)
    seconds = min(body.seconds, context.settings.lease_seconds_most)
    taker = snapshots.Taker(context.pool, context.bucket, context.settings)
    row, lease = await taker.take(stream, body.purpose, access.actor_of(credential), seconds)
    return views.snapshot_view(stream, row, lease)


@router.get("/streams/{tenant_id}/{catalog_id}/snapshots")
async def find_snapshot(
    context: AppContext,
    credential: Annotated[Credential, needs("history:read")],
    tenant_id: TenantPath,
    catalog_id: CatalogPath,
    position: Annotated[int | None, Query(ge=0, le=2**53)] = None,
    epoch: EpochQuery = None,
) -> views.SnapshotView:
    """The snapshot at a position, by default the latest."""
    access.check_access(credential, tenant_id)
    stream = await history.stream_named(context.pool, tenant_id, catalog_id, epoch)
    async with access.seeing(context.pool, tenant_id) as connection:
        row = await history_store.find_snapshot(connection, stream, position)
    if row is None:
        raise NotFound
    return views.snapshot_view(stream, row)


@router.get("/streams/{tenant_id}/{catalog_id}/snapshots/{position}", response_class=StreamingResponse)
async def read_snapshot(
    context: AppContext,
    credential: Annotated[Credential, needs("history:read")],
    tenant_id: TenantPath,
    catalog_id: CatalogPath,
    position: int,
    epoch: EpochQuery = None,
    wanted: Annotated[str | None, Header(alias="Range", pattern=r"^bytes=\d{1,18}-$")] = None,
) -> StreamingResponse:
    """A snapshot's object; `Range: bytes=N-` goes on where a broken answer ended."""
    access.check_access(credential, tenant_id)
    stream = await history.stream_named(context.pool, tenant_id, catalog_id, epoch)
    async with access.seeing(context.pool, tenant_id) as connection:
        row = await history_store.find_snapshot(connection, stream, position)
    if row is None:
        raise NotFound
    first = 0 if wanted is None else int(wanted.removeprefix("bytes=").removesuffix("-"))
    if first >= row.bytes:
        raise NotFound
    body: AsyncIterator[bytes] = snapshots.stream_object(context.bucket, tenant_id, row, first)
    headers = {"ETag": f'"{row.sha256}"', "Accept-Ranges": "bytes", "Content-Length": str(row.bytes - first)}
    if wanted is None:
        return StreamingResponse(body, media_type=MEDIA_TYPE, headers=headers)
    headers["Content-Range"] = f"bytes {first}-{row.bytes - 1}/{row.bytes}"
    return StreamingResponse(body, HTTPStatus.PARTIAL_CONTENT, headers, MEDIA_TYPE)
