"""What one batch reads and writes, for all its catalogs at once. Everything here runs in the caller's transaction."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias
from uuid import UUID

from assay_runtime import sql
from psycopg import Connection
from psycopg.rows import TupleRow

from assay_product.deliveries import Catalog, Incoming
from assay_product.errors import GenerationMoved
from assay_product.generation import Cursor, Mark
from assay_product.parking import Parked, Plan, needs
from assay_product.projection import AttributeRow, ItemRow, MappingRow, Ref, Row, aggregate

Conn: TypeAlias = Connection[TupleRow]
Revisions: TypeAlias = dict[Catalog, dict[Ref, int]]

MARKS_READ = 1_000
"""Positions read at a time when a gap closes below events that were processed before."""

_GENERATION = sql.load("assay_product", "generation")
_CURSOR = sql.load("assay_product", "cursor")
_INBOX = sql.load("assay_product", "inbox")
_PARKED = sql.load("assay_product", "parked")
_PROJECTION = sql.load("assay_product", "projection")

_STAMP = ("revision", "position", "decision_id", "occurred_at")
_ITEM = ("item_id", "state", "merged_into", "because")
_MAPPING = (
    *(
        "listing_id",
        "item_id",
        "home_item_id",
        "source_id",
        "listing_key",
        "serial",
        "url",
        "group_key",
        "via",
        "score",
    ),
    *("evidence", "because"),
)
_ATTRIBUTE = (
    *("attribute_id", "owner_type", "owner_id", "name", "line", "value", "by", "evidence", "because", "search"),
)
_TABLES: tuple[tuple[type[Row], str, tuple[str, ...]], ...] = (
    (ItemRow, "upsert_items", _ITEM),
    (MappingRow, "upsert_mappings", _MAPPING),
    (AttributeRow, "upsert_attributes", _ATTRIBUTE),
)


def lock_live(conn: Conn, catalogs: Collection[Catalog], history_epoch: str) -> dict[Catalog, Cursor]:
    """Become the only writer of these catalogs and learn which generation is live, making the first where none is."""
    if not catalogs:
        return {}
    wanted = _keys(sorted(catalogs))
    conn.execute(_GENERATION["create_generation"], {**wanted, "history_epoch": history_epoch})
    live = {
        Catalog(tenant_id, catalog_id): (int(generation), str(epoch))
        for tenant_id, catalog_id, generation, epoch in conn.execute(_GENERATION["lock_live"], wanted)
    }
    if len(live) != len(catalogs):
        raise GenerationMoved
    return _read_cursors(conn, live)


def _read_cursors(conn: Conn, live: Mapping[Catalog, tuple[int, str]]) -> dict[Catalog, Cursor]:
    keys = {**_keys(live), "generation": [generation for generation, _ in live.values()]}
    conn.execute(_CURSOR["ensure_cursor"], keys)
    cursors: dict[Catalog, Cursor] = {}
    for tenant_id, catalog_id, *state in conn.execute(_CURSOR["read_cursor"], keys):
        catalog = Catalog(tenant_id, catalog_id)
        cursors[catalog] = Cursor(catalog, *live[catalog], *state)
    return cursors


def list_held(conn: Conn) -> list[Catalog]:
    """Catalogs whose live generation waits for something."""
    return [Catalog(*row) for row in conn.execute(_GENERATION["list_held"])]


def measure_holds(conn: Conn) -> tuple[int, int, int, int]:
    """Over all live generations: catalogs that wait, catalogs that are halted, events parked, positions missing."""
    row = conn.execute(_GENERATION["measure_holds"]).fetchone()
    assert row is not None, "an aggregate has one row"
    return int(row[0]), int(row[1]), int(row[2]), int(row[3])


def read_taken(conn: Conn, events: Iterable[tuple[Cursor, Incoming]]) -> dict[Catalog, dict[int, UUID]]:
    """The known positions that these events name, by their own position or by their id."""
    found: dict[Catalog, dict[int, UUID]] = defaultdict(dict)
    for tenant_id, catalog_id, position, event_id in conn.execute(_INBOX["read_taken"], _places(events)):
        found[Catalog(tenant_id, catalog_id)][position] = event_id
    return found


def read_revisions(conn: Conn, events: Iterable[tuple[Cursor, Incoming]]) -> Revisions:
    """The revision of each aggregate that these events change or rest on."""
    wanted = {
        (cursor, ref)
        for cursor, incoming in events
        for ref in (aggregate(incoming.event), *(need.ref for need in needs(incoming.event)))
    }
    parameters = {
        **_located([cursor for cursor, _ in wanted]),
        "type": [ref.type for _, ref in wanted],
        "id": [ref.id for _, ref in wanted],
    }
    found: Revisions = defaultdict(dict)
    for tenant_id, catalog_id, kind, subject, revision in conn.execute(_PROJECTION["read_revisions"], parameters):
        found[Catalog(tenant_id, catalog_id)][Ref(kind, subject)] = revision
    return found


def read_waiting(conn: Conn, cursor: Cursor, reached: Mapping[Ref, int], limit: int) -> list[bytes]:
    """Values of parked events that waited for what is reached now."""
    parameters = {
        **_place(cursor),
        "type": [ref.type for ref in reached],
        "id": [ref.id for ref in reached],
        "revision": list(reached.values()),
        "limit": limit,
    }
    return [bytes(value) for (value,) in conn.execute(_PARKED["read_waiting"], parameters)]


def read_ready(conn: Conn, cursor: Cursor, limit: int) -> list[bytes]:
    """Values of parked events that wait for nothing any more."""
    return [bytes(value) for (value,) in conn.execute(_PARKED["read_ready"], {**_place(cursor), "limit": limit})]


def read_marks(conn: Conn, cursor: Cursor) -> dict[int, Mark]:
    """The processed positions that come next after the progress, MARKS_READ at most."""
    parameters = {**_place(cursor), "after": cursor.progress, "limit": MARKS_READ}
    return {
        position: Mark(event_id, bytes(sha256))
        for position, event_id, sha256 in conn.execute(_INBOX["read_marks"], parameters)
    }


def write_plans(conn: Conn, plans: Sequence[tuple[Cursor, Plan]]) -> None:
    """Write the rows, note the events as processed, and park the rest."""
    write_rows(conn, [(cursor, row) for cursor, plan in plans for row in plan.rows.values()])
    applied = [(cursor, incoming) for cursor, plan in plans for incoming in plan.applied]
    ignored = [(cursor, incoming) for cursor, plan in plans for incoming in plan.ignored]
    if applied or ignored:
        parameters = {
            **_places([*applied, *ignored]),
            "outcome": ["applied"] * len(applied) + ["ignored"] * len(ignored),
            "sha256": [incoming.sha256 for _, incoming in [*applied, *ignored]],
        }
        conn.execute(_INBOX["insert_processed"], parameters)
    write_parked(conn, [(cursor, parked) for cursor, plan in plans for parked in plan.parked])


def write_rows(conn: Conn, rows: Sequence[tuple[Cursor, Row]]) -> None:
    """Upsert the projection's rows, a statement for each kind."""
    for kind, statement, columns in _TABLES:
        chosen = [(cursor, row) for cursor, row in rows if type(row) is kind]
        if chosen:
            parameters = _located([cursor for cursor, _ in chosen])
            parameters |= {name: [getattr(row, name) for _, row in chosen] for name in columns}
            parameters |= {name: [getattr(row.stamp, name) for _, row in chosen] for name in _STAMP}
            conn.execute(_PROJECTION[statement], parameters)


def write_parked(conn: Conn, parked: Sequence[tuple[Cursor, Parked]]) -> None:
    """Park events, or say anew what parked ones wait for."""
    if not parked:
        return
    waits = [(one.need.ref.type, one.need.ref.id, one.need.revision) if one.need else None for _, one in parked]
    parameters = {
        **_places([(cursor, one.incoming) for cursor, one in parked]),
        "value": [one.incoming.value for _, one in parked],
        "reason": [one.reason for _, one in parked],
        "waits_for_type": [wait[0] if wait else None for wait in waits],
        "waits_for_id": [wait[1] if wait else None for wait in waits],
        "waits_for_revision": [wait[2] if wait else None for wait in waits],
    }
    conn.execute(_PARKED["insert_parked"], parameters)


def delete_released(conn: Conn, cursor: Cursor, positions: Sequence[int]) -> None:
    """Forget what was parked and is processed now."""
    conn.execute(_PARKED["delete_released"], {**_place(cursor), "position": list(positions)})


def move_cursors(conn: Conn, cursors: Sequence[Cursor]) -> None:
    """Store how far the generations have come."""
    parameters = {
        **_located(cursors),
        "progress": [cursor.progress for cursor in cursors],
        "highest": [cursor.highest for cursor in cursors],
        "processed": [cursor.processed for cursor in cursors],
        "digest": [cursor.digest for cursor in cursors],
        "halted": [cursor.halted for cursor in cursors],
    }
    conn.execute(_CURSOR["move_cursor"], parameters)


def _keys(catalogs: Iterable[Catalog]) -> dict[str, list[str]]:
    chosen = list(catalogs)
    return {
        "tenant_id": [catalog.tenant_id for catalog in chosen],
        "catalog_id": [catalog.catalog_id for catalog in chosen],
    }


def _place(cursor: Cursor) -> dict[str, object]:
    tenant_id, catalog_id = cursor.catalog
    return {"tenant_id": tenant_id, "catalog_id": catalog_id, "generation": cursor.generation}


def _located(cursors: Sequence[Cursor]) -> dict[str, object]:
    return {
        **_keys(cursor.catalog for cursor in cursors),
        "generation": [cursor.generation for cursor in cursors],
    }


def _places(events: Iterable[tuple[Cursor, Incoming]]) -> dict[str, object]:
    chosen = list(events)
    return {
        **_located([cursor for cursor, _ in chosen]),
        "position": [incoming.event.position for _, incoming in chosen],
        "event_id": [incoming.event_id for _, incoming in chosen],
    }
