"""What every route of the resolver's API works with: the pool, the bucket, and the shapes of its parameters."""

from dataclasses import dataclass
from typing import Annotated, Final, cast

from assay_runtime.evidence import EvidenceStore
from assay_runtime.postgres import AsyncPool
from fastapi import Depends, Header, Path, Query, Request

PAGE: Final = 50
LONGEST_PAGE: Final = 200


@dataclass(frozen=True)
class Context:
    """Shared by all requests of a process."""

    pool: AsyncPool
    bucket: EvidenceStore


def _context(request: Request) -> Context:
    return cast("Context", request.app.state.context)


AppContext = Annotated[Context, Depends(_context)]
CatalogId = Annotated[str, Query(alias="catalog", pattern=r"^cat_[a-z0-9_]{1,60}$")]
CaseId = Annotated[str, Path(pattern=r"^case_[A-Za-z0-9_]{1,59}$")]
ItemId = Annotated[str, Path(pattern=r"^item_[A-Za-z0-9_]{1,59}$")]
ListingId = Annotated[str, Path(pattern=r"^lst_[A-Za-z0-9_]{1,60}$")]
DecisionId = Annotated[str, Path(pattern=r"^dec_[A-Za-z0-9_]{1,60}$")]
Limit = Annotated[int, Query(ge=1, le=LONGEST_PAGE)]
RequestId = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        pattern=r"^[!-~]{1,200}$",
        description="Names this request: sent again it gets the first result and decides nothing.",
    ),
]
