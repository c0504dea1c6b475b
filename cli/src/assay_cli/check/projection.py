"""I4, I6, I7, I10 across the databases: the projection is the fold of the resolver's history that it has processed.

The fold here is the checker's own and not product's: of each aggregate's processed changes the one with the highest
revision must be what the projection shows.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from assay_resolver.streams import running_digest
from assay_runtime import sql

from assay_cli.check.sources import Sources
from assay_cli.check.violations import Violation

_STREAMS = sql.load("assay_cli", "check_streams")

Scope = dict[str, object]


@dataclass(frozen=True, slots=True)
class Change:
    """One event of the history."""

    position: int
    event_id: UUID
    aggregate: str
    id: str
    revision: int
    type: str
    data: str


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a projection; shown: the part of the event's data that it keeps."""

    aggregate: str
    id: str
    revision: int
    position: int
    shown: str


def check_digests(sources: Sources) -> Iterator[Violation]:
    """Every cursor's digest is the running digest of its outbox rows."""
    for tenant_id, catalog_id, history_epoch, _, _, digest in sources.resolver.execute(_STREAMS["list_streams"]):
        scope = {"tenant_id": tenant_id, "catalog_id": catalog_id, "history_epoch": history_epoch}
        running = bytes(32)
        for position, event_id, value in sources.resolver.execute(_STREAMS["read_outbox"], scope):
            running = running_digest(running, position, event_id, value)
        if running != digest:
            yield Violation("I4", "i4_digest_differs", _name(scope))


def check_projections(sources: Sources) -> Iterator[Violation]:
    """Compare every live generation with the history that it says it has processed."""
    rows = sources.product.execute(_STREAMS["list_generations"]).fetchall()
    for tenant_id, catalog_id, generation, history_epoch, progress, digest in rows:
        scope: Scope = {
            "tenant_id": tenant_id,
            "catalog_id": catalog_id,
            "history_epoch": history_epoch,
            "generation": generation,
        }
        changes = {row[0]: Change(*row) for row in sources.resolver.execute(_STREAMS["read_changes"], scope)}
        processed: dict[int, UUID] = dict(sources.product.execute(_STREAMS["read_inbox"], scope).fetchall())
        projected = [Row(*row) for row in sources.product.execute(_STREAMS["read_projection"], scope)]
        yield from _foreign(scope, changes, processed)
        yield from _differing(scope, changes, processed, projected)
        yield from _progress_differs(sources, scope, progress, digest)


def _foreign(scope: Scope, changes: Mapping[int, Change], processed: Mapping[int, UUID]) -> Iterator[Violation]:
    for position, event_id in processed.items():
        if position not in changes or changes[position].event_id != event_id:
            yield Violation("I10", "i10_foreign_event_took_effect", f"{_name(scope)} {position} {event_id}")


def _differing(
    scope: Scope, changes: Mapping[int, Change], processed: Mapping[int, UUID], projected: list[Row]
) -> Iterator[Violation]:
    folded: dict[tuple[str, str], Change] = {}
    for position in sorted(processed):
        change = changes.get(position)
        if change is not None:
            before = folded.get((change.aggregate, change.id))
            if before is None or before.revision < change.revision:
                folded[change.aggregate, change.id] = change
    shown = {(row.aggregate, row.id): row for row in projected}
    for key in sorted(folded.keys() | shown.keys()):
        change, row = folded.get(key), shown.get(key)
        if change is None or row is None or (change.revision, change.position) != (row.revision, row.position):
            older = change is not None and row is not None and row.revision < change.revision
            rule = "i6_projection_went_back" if older else "i7_projection_is_not_the_fold"
            yield Violation(rule[:2].upper(), rule, f"{_name(scope)} {' '.join(key)}")
        elif not _shows(row, change):
            yield Violation("I7", "i7_projection_shows_another_value", f"{_name(scope)} {' '.join(key)}")


def _shows(row: Row, change: Change) -> bool:
    """Whether the row's part of the data is what the event said."""
    shown = cast("dict[str, object]", json.loads(row.shown))
    if row.aggregate == "item":
        state = {"item.merged": "merged", "item.retired": "retired"}.get(change.type, "active")
        said = {"state": state, "into": json.loads(change.data).get("into")}
    else:
        data = cast("dict[str, object]", json.loads(change.data))
        said = {name: data.get(name) for name in shown}
    return shown == said


def _progress_differs(sources: Sources, scope: Scope, progress: int, digest: bytes) -> Iterator[Violation]:
    """Product's own running digest at its progress is the history's: it holds 1..progress and nothing else."""
    running = bytes(32)
    for position, event_id, value in sources.resolver.execute(_STREAMS["read_outbox"], scope):
        if position > progress:
            break
        running = running_digest(running, position, event_id, value)
    if running != digest:
        yield Violation("I7", "i7_progress_digest_differs", f"{_name(scope)} at {progress}")


def _name(scope: Scope) -> str:
    return f"{scope['tenant_id']}/{scope['catalog_id']}/{scope['history_epoch']}"
