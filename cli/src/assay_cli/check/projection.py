"""I6, I7, I10 across the databases: the projection is the fold of the resolver's history that it has processed.

The fold here is the checker's own and not product's: of each aggregate's processed changes the one with the highest
revision must be what the projection shows. Both sides are read in the order of aggregates, so that no more than one
page of either is in memory; only what was processed beyond a stream's progress is held as a set of positions.
"""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final, cast

from assay_runtime import sql

from assay_cli.check.sources import Sources, pages, stream
from assay_cli.check.violations import Violation, found

_SQL: Final = sql.load("assay_cli", "check_streams")

Key = tuple[str, str]
"""Aggregate type and id."""


@dataclass(frozen=True, slots=True)
class Generation:
    """A live build of a catalog, and how far it has come."""

    tenant_id: str
    catalog_id: str
    generation: int
    history_epoch: str
    progress: int
    digest: bytes

    @property
    def name(self) -> str:
        """How a violation names it."""
        return f"{self.tenant_id}/{self.catalog_id}/{self.history_epoch}"

    @property
    def scope(self) -> dict[str, object]:
        """The parameters of statements about it."""
        return {
            "tenant_id": self.tenant_id,
            "catalog_id": self.catalog_id,
            "history_epoch": self.history_epoch,
            "generation": self.generation,
            "progress": self.progress,
        }


@dataclass(frozen=True, slots=True)
class Change:
    """One event of the history, in the words of its row."""

    aggregate: str
    id: str
    revision: int
    position: int
    decision_id: str
    type: str
    data: str


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a projection; shown: the part of the event's data that it keeps."""

    aggregate: str
    id: str
    revision: int
    position: int
    decision_id: str
    shown: str


def check_projections(sources: Sources) -> Iterator[Violation]:
    """Compare every live generation with the history that it says it has processed."""
    epochs = {name for (name,) in sources.resolver.execute(_SQL["list_epochs"])}
    for row in sources.product.execute(_SQL["list_generations"]).fetchall():
        generation = Generation(*row)
        if generation.history_epoch not in epochs:
            yield found("i10_generation_of_unknown_epoch", generation.name)
        yield from _foreign(sources, generation)
        yield from _differing(sources, generation)


def _foreign(sources: Sources, generation: Generation) -> Iterator[Violation]:
    """Every processed event is the history's own event at its position."""
    for page in pages(stream(sources.product, _SQL["read_inbox"], generation.scope)):
        wanted = {**generation.scope, "positions": [position for position, _ in page]}
        known = dict(cast("list[tuple[int, object]]", sources.resolver.execute(_SQL["read_ids"], wanted).fetchall()))
        for position, event_id in page:
            if known.get(position) != event_id:
                yield found("i10_foreign_event_took_effect", f"{generation.name} {position} {event_id}")


def _differing(sources: Sources, generation: Generation) -> Iterator[Violation]:
    beyond = {position for (position,) in sources.product.execute(_SQL["read_beyond"], generation.scope)}
    folded = _fold(sources, generation, beyond)
    rows = (Row(*row) for row in stream(sources.product, _SQL["read_projection"], generation.scope))
    for key, change, row in _pair(folded, rows):
        subject = f"{generation.name} {' '.join(key)}"
        if change is None or row is None or (change.revision, change.position) != (row.revision, row.position):
            if change is not None and row is not None and row.revision < change.revision:
                yield found("i6_projection_went_back", subject)
            else:
                yield found("i7_projection_is_not_the_fold", subject)
        elif not _shows(row, change):
            yield found("i7_projection_shows_another_value", subject)


def _fold(sources: Sources, generation: Generation, beyond: Collection[int]) -> Iterator[Change]:
    """The last processed change of each aggregate, in the order of aggregates."""
    changes = (Change(*row) for row in stream(sources.resolver, _SQL["read_changes"], generation.scope))
    for _, same in groupby(changes, key=lambda change: (change.aggregate, change.id)):
        processed = [one for one in same if one.position <= generation.progress or one.position in beyond]
        if processed:
            yield max(processed, key=lambda change: change.revision)


def _pair(changes: Iterator[Change], rows: Iterator[Row]) -> Iterator[tuple[Key, Change | None, Row | None]]:
    """Both sides by aggregate, which is the order of both; either may lack one."""
    change, row = next(changes, None), next(rows, None)
    while change is not None or row is not None:
        keys = [_order(one) for one in (change, row) if one is not None]
        first = min(keys)
        one = change if change is not None and _order(change) == first else None
        other = row if row is not None and _order(row) == first else None
        yield (first[0], first[1].decode()), one, other
        change = next(changes, None) if one is not None else change
        row = next(rows, None) if other is not None else row


def _order(one: Change | Row) -> tuple[str, bytes]:
    return (one.aggregate, one.id.encode())


def _shows(row: Row, change: Change) -> bool:
    """Whether the row's part of the data is what the event said."""
    shown = cast("dict[str, object]", json.loads(row.shown))
    data = cast("dict[str, object]", json.loads(change.data))
    because = data.get("because", data.get("reason"))
    if row.aggregate == "item":
        state = {"item.merged": "merged", "item.retired": "retired"}.get(change.type, "active")
        said: dict[str, object] = {"state": state, "into": data.get("into"), "because": because}
    else:
        said = {name: data.get(name) for name in shown} | {"because": because}
    return shown == said and row.decision_id == change.decision_id
