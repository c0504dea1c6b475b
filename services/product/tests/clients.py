"""Callers of the read API: one key per tenant."""

from dataclasses import dataclass
from typing import Any

from assay_runtime import keys
from fastapi import FastAPI
from httpx import AsyncClient, Response
from pydantic import SecretStr

from .parts import Conn

PEPPER = SecretStr("a pepper for tests only")


def give_key(operator: Conn, tenant: str, scopes: tuple[str, ...] = ("catalog:read",)) -> str:
    """A new key of a tenant, stored as the operator's command stores it."""
    minted = keys.mint(PEPPER)
    operator.execute(
        "INSERT INTO api_key (tenant_id, key_id, mac, scopes) VALUES (%s, %s, %s, %s)",
        [tenant, minted.key_id, minted.mac, list(scopes)],
    )
    operator.commit()
    return minted.text.get_secret_value()


@dataclass(frozen=True, slots=True)
class Client:
    """The API, and each tenant's key."""

    app: FastAPI
    http: AsyncClient
    keys: dict[str, str]

    async def ask(self, path: str, tenant: str = "ten_a", **headers: str) -> Response:
        """GET as a tenant."""
        return await self.http.get(path, headers={"Authorization": f"Bearer {self.keys[tenant]}", **headers})

    async def read(self, path: str, tenant: str = "ten_a") -> Any:
        """The document of a path that must exist."""
        answer = await self.ask(path, tenant)
        assert answer.status_code == 200, answer.text
        return answer.json()
