"""⑤ Review cases over HTTP: what rules leave open, and a person's answer, given at most once."""

from http import HTTPStatus
from typing import Annotated, Final, Literal, Self

from assay_contracts import bounds
from assay_resolver import case_view, cases
from assay_resolver.cases import CaseRequest
from assay_resolver.decisions import Asked, Decided
from assay_resolver.identity import Key
from assay_resolver.streams import Connection
from assay_runtime.http import Credential, needs
from fastapi import APIRouter, Query, Request, Response
from pydantic import Field, model_validator

from assay_resolver_api import deciding, documents, store, views
from assay_resolver_api.context import PAGE, AppContext, CaseId, CatalogId, Limit, RequestId
from assay_resolver_api.deciding import Item, Overruling, Seen

router = APIRouter(prefix="/v1/cases", tags=["cases"])

Action = Literal["accept", "merge", "create", "reject", "key_is_wrong", "withdraw", "reopen"]
KeyName = Annotated[str, Field(pattern=rf"^(gtin|brand_mpn):[^\x00]{{1,{bounds.LISTING_KEY}}}$")]
_NAMING_ITEM: Final = ("accept", "merge")


class CaseAnswer(Overruling):
    """A person's answer to a case as it stood at `expected_revision`.

    accept and merge name an item, key_is_wrong a key (`gtin:…` or `brand_mpn:…`), and nothing else does.
    """

    action: Action
    item_id: Item | None = None
    key: KeyName | None = None
    expected_revision: Seen

    @model_validator(mode="after")
    def _check_named(self) -> Self:
        if (self.action in _NAMING_ITEM) != (self.item_id is not None):
            raise ValueError("accept and merge name an item, and nothing else does")
        if (self.action == "key_is_wrong") != (self.key is not None):
            raise ValueError("key_is_wrong names a key, and nothing else does")
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
    responses=deciding.RESPONSES,
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
    """Answer a case: what the listing is, that its key is wrong, or that the question is none or stands again."""
    answer = await documents.read(request, CaseAnswer)

    async def act(connection: Connection, asked: Asked) -> Decided:
        wanted = CaseRequest(
            asked.stream, case_id, answer.expected_revision, request_id, asked.actor, asked.rationale, asked.overrules
        )
        return await _act(connection, wanted, answer)

    decided = await deciding.decide(context, credential, catalog_id, request_id, answer, answer.action, act)
    return deciding.report(response, decided, answer.action)


async def _act(connection: Connection, wanted: CaseRequest, answer: CaseAnswer) -> Decided:
    match answer.action:
        case "accept":
            return await cases.accept(connection, wanted, answer.item_id or "")
        case "merge":
            return await cases.merge(connection, wanted, answer.item_id or "")
        case "create":
            return await cases.create_item(connection, wanted)
        case "reject":
            return await cases.reject(connection, wanted)
        case "key_is_wrong":
            return await cases.call_key_wrong(connection, wanted, Key.named(answer.key or ""))
        case "withdraw":
            return await cases.withdraw(connection, wanted)
        case "reopen":
            return await cases.reopen(connection, wanted)
