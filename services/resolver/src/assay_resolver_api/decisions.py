"""⑤ Decisions over HTTP: who decided what and why, and undoing one by another."""

from http import HTTPStatus
from typing import Annotated

from assay_resolver import decision_view, undoing
from assay_resolver.decisions import Asked, Decided
from assay_resolver.streams import Connection
from assay_runtime.http import Credential, needs
from fastapi import APIRouter, Query, Request, Response

from assay_resolver_api import deciding, documents, store, views
from assay_resolver_api.context import PAGE, AppContext, CatalogId, DecisionId, Limit, RequestId
from assay_resolver_api.deciding import Reason

router = APIRouter(prefix="/v1/decisions", tags=["decisions"])


class Undo(Reason):
    """partial: withdraw what still stands and leave the rest, instead of refusing."""

    partial: bool = False


@router.get("")
async def list_decisions(
    context: AppContext,
    credential: Annotated[Credential, needs("cases:read")],
    catalog_id: CatalogId,
    about: Annotated[str | None, Query(pattern=r"^(item|lst)_[A-Za-z0-9_]{1,60}$")] = None,
    before: Annotated[str | None, Query(pattern=r"^dec_[A-Za-z0-9_]{1,60}$")] = None,
    limit: Limit = PAGE,
) -> views.DecisionPage:
    """A page of decisions, newest first; `about` an item or a listing: those that changed it or its values."""
    async with store.reading(context.pool, credential.tenant_id) as connection:
        stream = await store.stream_of(connection, credential.tenant_id, catalog_id)
        found = await decision_view.list_decisions(connection, stream, about, before, limit + 1)
    shown = [views.DecisionSummary.model_validate(one) for one in found[:limit]]
    return views.DecisionPage(decisions=shown, next=shown[-1].decision_id if len(found) > limit else None)


@router.get("/{decision_id}")
async def show_decision(
    context: AppContext,
    credential: Annotated[Credential, needs("cases:read")],
    decision_id: DecisionId,
    catalog_id: CatalogId,
) -> views.WholeDecisionView:
    """What a decision did, what it rests on, its parts, and what undid it."""
    async with store.reading(context.pool, credential.tenant_id) as connection:
        stream = await store.stream_of(connection, credential.tenant_id, catalog_id)
        return views.WholeDecisionView.model_validate(
            await decision_view.show_decision(connection, stream, decision_id)
        )


@router.post(
    "/{decision_id}/undo",
    status_code=HTTPStatus.CREATED,
    openapi_extra=documents.body_of(Undo),
    responses=deciding.RESPONSES,
)
async def undo_decision(
    request: Request,
    response: Response,
    context: AppContext,
    credential: Annotated[Credential, needs("cases:decide")],
    decision_id: DecisionId,
    catalog_id: CatalogId,
    request_id: RequestId,
) -> views.DecisionView:
    """Withdraw what a decision asserted, as a decision of its own, which can be undone too."""
    wanted = await documents.read(request, Undo)

    async def act(connection: Connection, asked: Asked) -> Decided:
        return await undoing.undo(connection, asked, decision_id, partial=wanted.partial)

    decided = await deciding.decide(context, credential, catalog_id, request_id, wanted, "undo", act)
    return deciding.report(response, decided, "undo")
