"""Makes tenants, catalogs, sources and API keys: the rows that every service reads and only the operator writes."""

import re
from collections.abc import Iterable
from typing import Final

import psycopg
from assay_runtime import sql
from assay_runtime.keys import MintedKey, mint
from psycopg.rows import TupleRow
from pydantic import SecretStr

from assay_cli.errors import CommandError
from assay_cli.stack.durable import read_object, write_object
from assay_cli.stack.installation import Installation

SCOPES: Final = (
    "captures:write",
    "captures:read",
    "evidence:read",
    "catalog:read",
    "cases:read",
    "cases:decide",
    "lineage:read",
    "dead-letters:read",
    "history:read",
    "history:lease",
    "retention:read",
)
"""What a key of the local stack may do: everything that its tenant may."""

_TENANCY = sql.load("assay_cli", "tenancy")
_OWNER_ONLY = 0o600


def provide(place: Installation, tenant_id: str, catalog_id: str, sources: Iterable[str]) -> str:
    """Make what is missing of a tenant, its catalog and its sources; return the text of its API key.

    Raises CommandError for an id of another form.
    """
    sources = sorted(set(sources))
    _check("tenant", "ten_", tenant_id)
    _check("catalog", "cat_", catalog_id)
    for source_id in sources:
        _check("source", "src_", source_id)
    with psycopg.connect(place.database("resolver").dsn("assay_operator")) as resolver:
        parameters = {"tenant_id": tenant_id, "catalog_id": catalog_id}
        resolver.execute(_TENANCY["ensure_tenant"], parameters)
        resolver.execute(_TENANCY["ensure_catalog"], parameters)
        for source_id in sources:
            resolver.execute(_TENANCY["ensure_source"], {**parameters, "source_id": source_id})
    return stored_key(place, tenant_id) or _new_key(place, tenant_id)


def _check(what: str, prefix: str, text: str) -> None:
    if not re.fullmatch(prefix + "[a-z0-9_]{1,60}", text):
        raise CommandError(f"a {what} is called {prefix} and then a-z, 0-9 and _, such as {prefix}acme: not {text!r}")


def stored_key(place: Installation, tenant_id: str) -> str | None:
    """The key that this installation keeps for a tenant, if it made one."""
    found = read_object(place.layout.keys_file).get(tenant_id)
    return found if isinstance(found, str) else None


def _new_key(place: Installation, tenant_id: str) -> str:
    """Mint a key, register its hash in both databases, and keep its text where only the operator reads."""
    key = mint(SecretStr(place.credentials.of("key-pepper")))
    for name in ("resolver", "product"):
        with psycopg.connect(place.database(name).dsn("assay_operator")) as connection:
            _register(connection, tenant_id, key)
    keys = read_object(place.layout.keys_file)
    write_object(place.layout.keys_file, {**keys, tenant_id: key.text.get_secret_value()}, mode=_OWNER_ONLY)
    return key.text.get_secret_value()


def _register(connection: psycopg.Connection[TupleRow], tenant_id: str, key: MintedKey) -> None:
    connection.execute(
        _TENANCY["insert_key"],
        {"tenant_id": tenant_id, "key_id": key.key_id, "mac": key.mac, "scopes": list(SCOPES)},
    )
