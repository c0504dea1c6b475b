"""⑤ Review cases over HTTP: what rules leave open, and a person's answer, given at most once."""

from http import HTTPStatus
from typing import Annotated, Literal, Self, assert_never

from assay_contracts import bounds
from assay_contracts.ids import TenantId
from assay_resolver import case_view, cases
from assay_resolver.cases import CaseRequest
from assay_resolver.decisions import Decided
from assay_resolver.errors import CaseConflict
from assay_resolver.streams import Connection
from assay_runtime.http import Credential, needs
from assay_runtime.logs import get_logger
from fastapi import APIRouter, Query, Request, Response
from pydantic import Field, model_validator

from assay_resolver_api import documents, store, views
from assay_resolver_api.context import PAGE, AppContext, CaseId, CatalogId, Context, Limit, RequestId
from assay_resolver_api.documents import Document
from assay_resolver_api.metrics import DECISIONS

log = get_logger()
router = APIRouter(prefix="/v1/cases", tags=["cases"])

Action = Literal["accept", "create", "reject"]
Rationale = Annotated[str, Field(min_length=1, max_length=2_000)]


class CaseAnswer(Document):
    """A person's answer to a case as it stood at `expected_revision`; `item_id` goes with accept and only with it."""

    action: Action
    item_id: Annotated[str, Field(pattern=r"^item_[A-Za-z0-9_]{1,59}$")] | None = None
    expected_revision: Annotated[int, Field(ge=1, le=bounds.POSITION)]
    rationale: Rationale

    @model_validator(mode="after")
    def _check_item(self) -> Self:
        if (self.action == "accept") != (self.item_id is not None):
            raise ValueError("accept names an item, and nothing else does")
        return self


@router.get("")
async def list_cases(
    context: AppContext,
    credential: Annotated[Credential, needs("cases:read")],
    catalog_id: CatalogId,
    state: Literal["open", "decided", "withdrawn"] = "open",
    after: Annotated[str, Query(pattern=r"^(case_[A-Za-z0-9_]{1,59})?$")] = "",
    limit: Limit = PAGE,
) -> views.CasePage:
    """A page of a catalog's cases, oldest first."""
    async with store.reading(context.pool, credential.tenant_id) as connection:
        stream = await store.stream_of(connection, credential.tenant_id, catalog_id)
        rows = await case_view.list_cases(connection, stream, state, after, limit + 1)
    shown = [views.CaseSummary.model_validate(row.shown()) for row in rows[:limit]]
    return views.CasePage(cases=shown, next=shown[-1].case_id if len(rows) > limit else None)


@router.get("/{case_id}")
async def show_case(
    context: AppContext, credential: Annotated[Credential, needs("cases:read")], case_id: CaseId, catalog_id: CatalogId
) -> views.CaseView:
    """A case with what the listing's page states beside what each candidate is."""
    async with store.reading(context.pool, credential.tenant_id) as connection:
        stream = await store.stream_of(connection, credential.tenant_id, catalog_id)
        return views.CaseView.model_validate(await case_view.show_case(connection, stream, case_id))


@router.post(
    "/{case_id}/decisions",
    status_code=HTTPStatus.CREATED,
    openapi_extra=documents.body_of(CaseAnswer),
    responses={
        HTTPStatus.OK: {"model": views.DecisionView, "description": "It was decided by this request before."},
        HTTPStatus.CONFLICT: {"description": "The case changed since it was read; `current` shows it as it stands."},
    },
)
async def decide_case(
    request: Request,
    response: Response,
    context: AppContext,
    credential: Annotated[Credential, needs("cases:decide")],
    case_id: CaseId,
    catalog_id: CatalogId,
    request_id: RequestId,
) -> views.DecisionView:
    """Answer a case: the listing is a candidate, is a new item, or is not to be in the catalog."""
    answer = await documents.read(request, CaseAnswer)
    try:
        decided = await _decide(context, credential, case_id, catalog_id, request_id, answer)
    except CaseConflict:
        DECISIONS.labels(answer.action, "conflict").inc()
        raise
    return report(response, decided, answer.action)


def report(response: Response, decided: Decided, action: str) -> views.DecisionView:
    """Count and log a decision, and show it: 201 the first time, 200 afterwards."""
    DECISIONS.labels(action, "repeated" if decided.repeated else "decided").inc()
    if decided.repeated:
        response.status_code = HTTPStatus.OK
    else:
        log.info("decision.made", decision_id=decided.decision_id, action=action, count=len(decided.events))
    return views.decision_view(decided)


def actor(credential: Credential) -> str:
    """Who decides: the key, since machines and people alike come with one."""
    return f"key:{credential.key_id}"


async def _decide(
    context: Context, credential: Credential, case_id: str, catalog_id: str, request_id: str, answer: CaseAnswer
) -> Decided:
    tenant_id: TenantId = credential.tenant_id
    async with store.deciding(context.pool, tenant_id, catalog_id) as (connection, stream):
        wanted = CaseRequest(stream, case_id, answer.expected_revision, request_id, actor(credential), answer.rationale)
        return await _act(connection, wanted, answer)


async def _act(connection: Connection, wanted: CaseRequest, answer: CaseAnswer) -> Decided:
    match answer.action:
        case "accept":
            return await cases.accept(connection, wanted, answer.item_id or "")
        case "create":
            return await cases.create_item(connection, wanted)
        case "reject":
            return await cases.reject(connection, wanted)
        case _:
            assert_never(answer.action)
