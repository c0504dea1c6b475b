"""I4 and I7 over the outbox: digests run over what is there, and every event says what its change says."""

import json
from collections.abc import Iterator, Mapping
from typing import Final
from uuid import UUID

from assay_contracts.decoder import decode
from assay_contracts.errors import InvalidMessage
from assay_resolver.streams import running_digest
from assay_runtime import sql
from psycopg.rows import TupleRow

from assay_cli.check.sources import Sources, stream
from assay_cli.check.violations import Violation, found

Scope = tuple[str, str, str]
"""A stream: tenant, catalog, history epoch."""

_SQL: Final = sql.load("assay_cli", "check_streams")


def check_history(sources: Sources) -> Iterator[Violation]:
    """Read each stream's events once, with the change that each of them tells."""
    reached = _progress(sources)
    for *names, _, _, digest, floor, floor_digest in sources.resolver.execute(_SQL["list_streams"]).fetchall():
        scope: Scope = (names[0], names[1], names[2])
        yield from _check_stream(sources, scope, digest, (floor, floor_digest or bytes(32)), reached.get(scope))


def _progress(sources: Sources) -> Mapping[Scope, tuple[int, bytes]]:
    """How far the live generation of each stream has come, with its own running digest."""
    rows = sources.product.execute(_SQL["list_generations"])
    return {(tenant, catalog, epoch): (progress, digest) for tenant, catalog, _, epoch, progress, digest in rows}


def _check_stream(
    sources: Sources, scope: Scope, digest: bytes, floor: tuple[int, bytes], projected: tuple[int, bytes] | None
) -> Iterator[Violation]:
    """floor: up to where the stream is pruned, with the digest there, from which the rest must lead to the end's."""
    name = "/".join(scope)
    running = floor[1]
    progress, progress_digest = projected or floor
    at_progress = running
    for row in stream(sources.resolver, _SQL["read_outbox"], {**_parameters(scope), "floor": floor[0]}):
        position, event_id, value = row[:3]
        running = running_digest(running, position, event_id, value)
        if position <= progress:
            at_progress = running
        if not _tells(scope, row):
            yield found("i4_event_says_otherwise", f"{name} {position}")
    if running != digest:
        yield found("i4_digest_differs", name)
    if at_progress != progress_digest:
        yield found("i7_progress_digest_differs", f"{name} at {progress}")


def _tells(scope: Scope, row: TupleRow) -> bool:
    """Whether the event's bytes are readable and say what the change at their position says, if there is one."""
    position, event_id, value, *change = row
    try:
        envelope = decode("catalog.event.v1", value)
    except InvalidMessage:
        return False
    event = envelope.payload
    told = event.model_dump(mode="json", include={"data"})["data"]
    place = (event.tenant_id, event.catalog_id, event.history_epoch, event.position, envelope.id, event.event_id)
    if place != (*scope, position, event_id, f"evt_{UUID(str(event_id)).hex}"):
        return False
    *named, data = change
    said = [event.aggregate.type, event.aggregate.id, event.revision, event.type, event.decision_id]
    return data is None or (said == named and (event.data is None or told == json.loads(data)))


def _parameters(scope: Scope) -> dict[str, object]:
    return dict(zip(("tenant_id", "catalog_id", "history_epoch"), scope, strict=True))
