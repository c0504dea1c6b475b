"""The relay's API in the test's own process, with keys of tenants and of a service."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
from assay_cli.testing import Bucket
from assay_relay.api.application import build_app
from assay_relay.api.context import Context
from assay_relay.settings import ApiSettings
from assay_resolver.streams import Stream
from assay_runtime import keys
from assay_runtime.evidence import EvidenceStore
from fastapi import FastAPI
from httpx import ASGITransport, AsyncClient
from pydantic import SecretStr

from .retention_world import Retention

PEPPER = "pepper-of-the-relay-tests"
TENANT_SCOPES = ("history:read", "history:lease", "retention:read")
SERVICE_SCOPES = (*TENANT_SCOPES, "retention:report", "retention:admin")
EVERY_SCOPE = SERVICE_SCOPES


@dataclass
class Api:
    """Clients by who asks."""

    retained: Retention
    app: FastAPI
    transport: ASGITransport

    def tenant(self, tenant_id: str, scopes: tuple[str, ...] = TENANT_SCOPES) -> AsyncClient:
        """A tenant, which must exist."""
        minted = keys.mint(SecretStr(PEPPER))
        self.retained.outbox.connection.execute(
            "INSERT INTO api_key (tenant_id, key_id, mac, scopes) VALUES (%s, %s, %s, %s)",
            [tenant_id, minted.key_id, minted.mac, list(scopes)],
        )
        return self._client(minted)

    def service(self, name: str = "service", scopes: tuple[str, ...] = SERVICE_SCOPES) -> AsyncClient:
        """One of our own programs."""
        minted = keys.mint(SecretStr(PEPPER))
        self.retained.outbox.connection.execute(
            "INSERT INTO service_key (name, key_id, mac, scopes) VALUES (%s, %s, %s, %s)",
            [name, minted.key_id, minted.mac, list(scopes)],
        )
        return self._client(minted)

    def _client(self, minted: keys.MintedKey) -> AsyncClient:
        headers = {"Authorization": f"Bearer {minted.text.get_secret_value()}"}
        return httpx.AsyncClient(transport=self.transport, base_url="http://relay", headers=headers)

    def item(self, stream: Stream, item_id: str, *, retired: bool = False) -> None:
        """A decision that creates an item, or one that retires it, with its event."""
        head = self.retained.grow(stream, 1)
        kind, data = ("item.retired", '{"reason": "old"}') if retired else ("item.created", '{"from_listing_id": null}')
        key = [stream.tenant_id, stream.catalog_id]
        decision_id, revision = f"dec_{head}", 2 if retired else 1
        connection = self.retained.outbox.connection
        connection.execute(
            "INSERT INTO decision VALUES (%s, %s, %s, %s, %s, 'x', 'x', 'x', '{}', '{}', '{}', NULL, now())",
            [*key, decision_id, stream.history_epoch, decision_id],
        )
        connection.execute(
            "INSERT INTO change (tenant_id, catalog_id, aggregate, id, revision, decision_id, event_id, history_epoch,"
            " position, type, data)"
            " SELECT tenant_id, catalog_id, 'item', %s, %s, %s, event_id, history_epoch, position, %s, %s FROM outbox"
            " WHERE tenant_id = %s AND catalog_id = %s AND position = %s",
            [item_id, revision, decision_id, kind, data, *key, head],
        )
        connection.execute(
            "INSERT INTO item (tenant_id, catalog_id, item_id, state, revision) VALUES (%s, %s, %s, 'active', 1)"
            " ON CONFLICT (tenant_id, catalog_id, item_id) DO UPDATE SET state = 'retired', revision = 2",
            [*key, item_id],
        )


@asynccontextmanager
async def serving(retained: Retention, bucket: Bucket) -> AsyncGenerator[Api]:
    """The application over this test's database and bucket."""
    environment = {name.removeprefix("ASSAY_").lower(): value for name, value in bucket.settings.items()}
    settings = ApiSettings.model_validate(
        {**environment, "dsn": retained.database.dsn("assay_relay_api"), "key_pepper": PEPPER}
    )
    async with EvidenceStore(settings) as store:
        app = build_app(Context(retained.pool, store, settings))
        yield Api(retained, app, ASGITransport(app))
