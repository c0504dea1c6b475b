"""Routes about who reads the history and how far: only our own programs register, report and remove."""

from http import HTTPStatus
from typing import Annotated

from assay_resolver.streams import Stream
from assay_runtime.http import Credential, needs
from fastapi import APIRouter, Query, Response

from assay_relay.api import access, retention, views
from assay_relay.api.context import AppContext, ConsumerName
from assay_relay.api.retention import Registration
from assay_relay.store import retention as store

router = APIRouter(prefix="/v1/consumers", tags=["consumers"])


@router.get("")
async def list_consumers(
    context: AppContext, credential: Annotated[Credential, needs("retention:read")]
) -> views.ConsumersView:
    """Every consumer, the longest silent first."""
    access.check_service(credential)
    async with context.pool.connection() as connection:
        found = await store.list_consumers(connection)
    return views.ConsumersView(consumers=[views.consumer_view(row) for row in found])


@router.put("/{name}", status_code=HTTPStatus.CREATED)
async def register(
    context: AppContext,
    response: Response,
    credential: Annotated[Credential, needs("retention:report")],
    name: ConsumerName,
    body: views.Registering,
) -> views.RegisteredView:
    """Be asked before anything goes, from now on. The same again changes nothing; something else is refused."""
    access.check_service(credential)
    catalogs = None if body.catalogs is None else [(one.tenant_id, one.catalog_id) for one in body.catalogs]
    wanted = Registration(name, body.kind, catalogs)
    found = await retention.register(context.pool, wanted, access.actor_of(credential))
    if not found.is_new:
        response.status_code = HTTPStatus.OK
    floors = [views.FloorView(**views.ref(stream), floor=floor) for stream, floor in found.floors]
    return views.RegisteredView(name=name, kind=body.kind, created=found.is_new, floors=floors)


@router.post("/{name}/progress")
async def report(
    context: AppContext,
    credential: Annotated[Credential, needs("retention:report")],
    name: ConsumerName,
    body: views.Reporting,
) -> views.StandsView:
    """Say what is durably processed. Older positions change nothing; the answer says where the consumer stands."""
    access.check_service(credential)
    positions = [(Stream(one.tenant_id, one.catalog_id, one.history_epoch), one.position) for one in body.progress]
    stands = await retention.report(context.pool, name, positions)
    return views.StandsView(streams=[views.stand_view(stand) for stand in stands])


@router.delete("/{name}", status_code=HTTPStatus.NO_CONTENT)
async def unregister(
    context: AppContext,
    credential: Annotated[Credential, needs("retention:admin")],
    name: ConsumerName,
    because: Annotated[str, Query(min_length=1, max_length=1_000)],
) -> None:
    """Let pruning go on without this consumer; kept for ever with its reason."""
    access.check_service(credential)
    await retention.unregister(context.pool, name, access.actor_of(credential), because)
