"""The keys of our own programs in an installation: made once, their hashes in the resolver database."""

from collections.abc import Mapping, Sequence
from typing import Final

import psycopg
from assay_runtime import sql
from assay_runtime.keys import mint
from pydantic import SecretStr

from assay_cli.stack.credentials import Credentials
from assay_cli.stack.databases import Database
from assay_cli.stack.durable import read_object, write_object
from assay_cli.stack.layout import Layout

OPERATOR: Final = "operator"
APPLY: Final = "product.apply"
SCOPES: Final[Mapping[str, Sequence[str]]] = {
    OPERATOR: ("retention:read", "retention:admin", "history:read", "history:lease"),
    APPLY: ("retention:report", "history:read", "history:lease"),
}
"""What each of our programs may do; a key names one program."""

_TENANCY = sql.load("assay_cli", "tenancy")
_OWNER_ONLY = 0o600


def provide(layout: Layout, credentials: Credentials, resolver: Database) -> None:
    """Make the keys that are missing; one whose hash another database holds is made anew."""
    kept = read_object(layout.service_keys_file)
    with psycopg.connect(resolver.dsn("assay_operator"), autocommit=True) as connection:
        known = {str(name) for (name,) in connection.execute(_TENANCY["list_service_keys"])}
        for name, scopes in SCOPES.items():
            if name in known and name in kept:
                continue
            key = mint(SecretStr(credentials.of("key-pepper")))
            parameters = {"name": name, "key_id": key.key_id, "mac": key.mac, "scopes": list(scopes)}
            connection.execute(_TENANCY["put_service_key"], parameters)
            kept[name] = key.text.get_secret_value()
    write_object(layout.service_keys_file, kept, mode=_OWNER_ONLY)


def stored(layout: Layout, name: str) -> str | None:
    """The key that this installation keeps for one of our programs."""
    found = read_object(layout.service_keys_file).get(name)
    return found if isinstance(found, str) else None
