"""Whose streams a request may speak of: a tenant's key of its own, a service's key of the one that the path names."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from assay_resolver.streams import Connection, Stream
from assay_runtime.http import Credential
from assay_runtime.postgres import AsyncPool, set_tenant

from assay_relay.api.errors import NotFound, ServiceOnly
from assay_relay.store.retention import EVERY_TENANT


def is_service(credential: Credential) -> bool:
    """Whether this is one of our own programs."""
    return credential.tenant_id == EVERY_TENANT


def may_speak_of(credential: Credential, tenant_id: str) -> bool:
    """Whether the tenant is the credential's own, or the credential a service's."""
    return is_service(credential) or credential.tenant_id == tenant_id


def check_access(credential: Credential, tenant_id: str) -> None:
    """NotFound for another tenant's, which looks the same as what does not exist."""
    if not may_speak_of(credential, tenant_id):
        raise NotFound


def check_service(credential: Credential) -> None:
    """ServiceOnly for a tenant's key."""
    if not is_service(credential):
        raise ServiceOnly


def actor_of(credential: Credential) -> str:
    """Who acts, for the record."""
    return f"key:{credential.key_id}"


@asynccontextmanager
async def seeing(pool: AsyncPool, tenant_id: str) -> AsyncGenerator[Connection]:
    """A transaction that shows one tenant's rows; it commits when the block ends without an error."""
    async with pool.connection() as connection:
        await set_tenant(connection, tenant_id)
        yield connection


async def see(connection: Connection, stream: Stream) -> None:
    """Show another tenant's rows to the rest of the transaction, for a service whose request speaks of several."""
    await set_tenant(connection, stream.tenant_id)
