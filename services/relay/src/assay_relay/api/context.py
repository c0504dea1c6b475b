"""What every route of the relay's API works with: the pool, the bucket, the settings, and the shapes of parameters."""

from dataclasses import dataclass
from typing import Annotated, Final, cast

from assay_runtime.evidence import EvidenceStore
from assay_runtime.postgres import AsyncPool
from fastapi import Depends, Path, Query, Request

from assay_relay.settings import ApiSettings

PAGE: Final = 500
LONGEST_PAGE: Final = 1_000


@dataclass(frozen=True)
class Context:
    """Shared by all requests of a process."""

    pool: AsyncPool
    bucket: EvidenceStore
    settings: ApiSettings


def _context(request: Request) -> Context:
    return cast("Context", request.app.state.context)


AppContext = Annotated[Context, Depends(_context)]
TenantPath = Annotated[str, Path(pattern=r"^ten_[a-z0-9_]{1,60}$")]
CatalogPath = Annotated[str, Path(pattern=r"^cat_[a-z0-9_]{1,60}$")]
EpochQuery = Annotated[
    str | None, Query(alias="epoch", pattern=r"^[A-Za-z0-9._-]{1,64}$", description="The open one where none is named.")
]
ConsumerName = Annotated[str, Path(pattern=r"^[a-z][a-z0-9_.-]{0,62}$")]
LeaseId = Annotated[str, Path(pattern=r"^lease_[0-9a-f]{32}$")]
Limit = Annotated[int, Query(ge=1, le=LONGEST_PAGE)]
