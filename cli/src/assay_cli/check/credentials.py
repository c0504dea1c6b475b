"""I11: a key opens the same tenant in both databases, and none that was revoked in one is good in the other."""

from collections.abc import Iterator
from typing import Final

from assay_runtime import sql

from assay_cli.check.sources import Sources, pages, stream
from assay_cli.check.violations import Violation, found

_SQL: Final = sql.load("assay_cli", "check_keys")


def check_credentials(sources: Sources) -> Iterator[Violation]:
    """Every key that product takes is the resolver's own. Whoever revokes a key has a minute for both databases."""
    for page in pages(stream(sources.product, _SQL["list_keys"])):
        wanted = {"keys": [row[0] for row in page]}
        own = {row[0]: row[1:] for row in sources.resolver.execute(_SQL["find_keys"], wanted)}
        for key_id, tenant_id, mac, scopes, is_good in page:
            *same, was_revoked = own.get(key_id, (None, None, None, True))
            if same != [tenant_id, mac, scopes] or (is_good and was_revoked):
                yield found("i11_credentials_differ", f"{tenant_id} {key_id}")
