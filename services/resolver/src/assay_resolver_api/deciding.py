"""⑤ How every request to decide runs: one transaction, one answer, counted and logged."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Annotated, Any, Final

from assay_contracts import bounds
from assay_resolver.decisions import Asked, Decided
from assay_resolver.errors import CaseConflict, Changed, UndoConflict, VerdictStands
from assay_resolver.streams import Connection
from assay_runtime.http import Credential
from assay_runtime.logs import get_logger
from fastapi import Response
from pydantic import Field

from assay_resolver_api import store, views
from assay_resolver_api.context import Context
from assay_resolver_api.documents import Document
from assay_resolver_api.metrics import DECISIONS

log = get_logger()

Rationale = Annotated[str, Field(min_length=1, max_length=2_000)]
Seen = Annotated[int, Field(ge=1, le=bounds.POSITION)]
Item = Annotated[str, Field(pattern=r"^item_[A-Za-z0-9_]{1,59}$")]
Listing = Annotated[str, Field(pattern=r"^lst_[A-Za-z0-9_]{1,60}$")]
Overrules = Annotated[list[Annotated[str, Field(pattern=r"^dec_[A-Za-z0-9_]{1,60}$")]], Field(max_length=100)]

CONFLICTS: Final = (CaseConflict, Changed, UndoConflict, VerdictStands)
Act = Callable[[Connection, Asked], Awaitable[Decided]]

RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    HTTPStatus.OK: {"model": views.DecisionView, "description": "It was decided by this request before."},
    HTTPStatus.CONFLICT: {"description": "Something has changed since it was read; the answer shows what."},
}
"""What else a request to decide may be answered with, as OpenAPI says it."""


class Reason(Document):
    """Why; kept with the decision for ever."""

    rationale: Rationale


class Overruling(Reason):
    """A decision that verdicts may stand against: `overrules` names the decisions of those that shall not."""

    overrules: Overrules = Field(default_factory=list)


async def decide(
    context: Context, credential: Credential, catalog_id: str, request_id: str, reason: Reason, action: str, act: Act
) -> Decided:
    """Run one act in a transaction of the caller's tenant; it commits unless the act refuses."""
    overrules = tuple(reason.overrules) if isinstance(reason, Overruling) else ()
    try:
        async with store.deciding(context.pool, credential.tenant_id, catalog_id) as (connection, stream):
            asked = Asked(stream, request_id, actor(credential), reason.rationale, overrules)
            return await act(connection, asked)
    except CONFLICTS:
        DECISIONS.labels(action, "conflict").inc()
        raise


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
