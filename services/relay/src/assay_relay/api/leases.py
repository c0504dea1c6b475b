"""Routes about pins with an end: for a rebuild or an audit that must find everything behind a position."""

from http import HTTPStatus
from typing import Annotated

from assay_runtime.http import Credential, needs
from fastapi import APIRouter

from assay_relay.api import access, history, retention, views
from assay_relay.api.context import AppContext, CatalogPath, EpochQuery, LeaseId, TenantPath

router = APIRouter(prefix="/v1/streams/{tenant_id}", tags=["leases"])


@router.post("/{catalog_id}/leases", status_code=HTTPStatus.CREATED)
async def create(
    context: AppContext,
    credential: Annotated[Credential, needs("history:lease")],
    tenant_id: TenantPath,
    catalog_id: CatalogPath,
    body: views.Leasing,
    epoch: EpochQuery = None,
) -> views.LeaseView:
    """Pin everything above the floor of now, or above a higher position; 410 for what is gone already."""
    access.check_access(credential, tenant_id)
    stream = await history.stream_named(context.pool, tenant_id, catalog_id, epoch)
    seconds = min(body.seconds, context.settings.lease_seconds_most)
    lease = await retention.create_lease(
        context.pool, stream, body.position, body.purpose, access.actor_of(credential), seconds
    )
    return views.lease_view(lease)


@router.post("/leases/{lease_id}")
async def renew(
    context: AppContext,
    credential: Annotated[Credential, needs("history:lease")],
    tenant_id: TenantPath,
    lease_id: LeaseId,
    body: views.Renewing,
) -> views.LeaseView:
    """Let a lease go on, and its pin move forward; 410 once it has expired, which nothing undoes."""
    access.check_access(credential, tenant_id)
    seconds = min(body.seconds, context.settings.lease_seconds_most)
    return views.lease_view(await retention.move_lease(context.pool, tenant_id, lease_id, body.position, seconds))


@router.delete("/leases/{lease_id}", status_code=HTTPStatus.NO_CONTENT)
async def release(
    context: AppContext,
    credential: Annotated[Credential, needs("history:lease")],
    tenant_id: TenantPath,
    lease_id: LeaseId,
) -> None:
    """Give a lease back."""
    access.check_access(credential, tenant_id)
    await retention.release_lease(context.pool, tenant_id, lease_id)
