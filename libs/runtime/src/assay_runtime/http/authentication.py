"""Who is asking: a machine's key leads to its tenant and scopes, and a route without a scope lets nobody in."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, cast

from assay_contracts.ids import TenantId
from fastapi import FastAPI, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes
from pydantic import SecretStr

from assay_runtime import keys
from assay_runtime.errors import InvalidKey
from assay_runtime.http.problems import Problem

_bearer = HTTPBearer(auto_error=False, description="An API key: assay_<key id>_<secret>_<checksum>")


@dataclass(frozen=True)
class StoredKey:
    """What the database knows of a key: the answer of `api_key_by_id`."""

    tenant_id: TenantId
    mac: bytes
    scopes: frozenset[str]
    revoked_at: datetime | None


@dataclass(frozen=True)
class Credential:
    """A key that was checked; `tenant_id` is the only tenant that the request may speak of."""

    key_id: str
    tenant_id: TenantId
    scopes: frozenset[str]


KeyLookup = Callable[[str], Awaitable[StoredKey | None]]


class KeyRing:
    """Checks keys against the database, each time, so that a revoked key is refused at once."""

    def __init__(self, pepper: SecretStr, lookup: KeyLookup) -> None:
        """`lookup` finds a key by its id and raises when the database is away."""
        self._pepper = pepper
        self._lookup = lookup

    def install(self, app: FastAPI) -> None:
        """Let this app's routes ask this ring."""
        app.state.key_ring = self

    async def check(self, text: str) -> Credential | None:
        """The credential, or None for a key that is malformed, unknown, wrong or revoked, without saying which."""
        try:
            key_id = keys.parse(text)
        except InvalidKey:
            return None
        stored = await self._lookup(key_id)
        right = keys.verify(self._pepper, text, None if stored is None else stored.mac)
        if stored is None or not right or stored.revoked_at is not None:
            return None
        return Credential(key_id, stored.tenant_id, stored.scopes)


async def authenticate(
    request: Request,
    wanted: SecurityScopes,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
) -> Credential:
    """The dependency behind `needs`: 401 without a valid key, 403 without every wanted scope or with none wanted."""
    ring = cast("KeyRing", request.app.state.key_ring)
    credential = None if bearer is None else await ring.check(bearer.credentials)
    if credential is None:
        raise Problem(
            HTTPStatus.UNAUTHORIZED,
            "unauthenticated",
            "A valid API key is needed",
            headers={"WWW-Authenticate": "Bearer"},
        )
    missing = set(wanted.scopes) - credential.scopes
    if missing or not wanted.scopes:
        raise Problem(HTTPStatus.FORBIDDEN, "forbidden", "The key lacks a scope", ", ".join(sorted(missing)))
    return credential


def needs(*scopes: str) -> Any:
    """Guard a route: `credential: Annotated[Credential, needs("captures:write")]`."""
    return Security(authenticate, scopes=scopes)
