"""What was given up on, over HTTP: the tenant's own dead letters with their causes."""

from typing import Annotated
from uuid import UUID

from assay_runtime.http import Credential, needs
from fastapi import APIRouter, Query

from assay_resolver_api import store, views
from assay_resolver_api.context import PAGE, AppContext, Limit
from assay_resolver_api.store import LetterId

router = APIRouter(prefix="/v1/dead-letters", tags=["dead letters"])

_ID = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:[0-9]{1,9}:[0-9]{1,18}$"


@router.get("")
async def list_letters(
    context: AppContext,
    credential: Annotated[Credential, needs("dead-letters:read")],
    after: Annotated[str | None, Query(pattern=_ID)] = None,
    limit: Limit = PAGE,
) -> views.LetterPage:
    """A page of dead letters, newest first."""
    async with store.reading(context.pool, credential.tenant_id) as connection:
        rows = await store.list_letters(
            connection, credential.tenant_id, None if after is None else _letter_id(after), limit + 1
        )
    return views.letter_page(rows, limit)


def _letter_id(text: str) -> LetterId:
    topic_id, partition, offset = text.split(":")
    return LetterId(UUID(topic_id), int(partition), int(offset))
