"""⑦ one batch, one transaction: lock, decide, write, move offsets. It takes all of its effect or none."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from assay_runtime.failpoints import failpoint

from assay_product.deliveries import Catalog, Delivery, Incoming, Refused, read, read_parked
from assay_product.generation import Cursor, Mark, advance, sort_out
from assay_product.parking import Parked, Plan, plan
from assay_product.projection import Ref
from assay_product.store import batch as store
from assay_product.store import deliveries as kept
from assay_product.store.batch import Conn

RELEASED_AT_ONCE = 2_000
"""Parked events that one transaction releases at most, so that it ends within its time limit; the rest come after."""
READ_AT_ONCE = 500


@dataclass(slots=True)
class Report:
    """What a transaction did, for metrics and logs."""

    applied: int = 0
    ignored: int = 0
    parked: int = 0
    released: int = 0
    repeated: int = 0
    passed: int = 0
    refused: Counter[str] = field(default_factory=Counter[str])
    halted: dict[Catalog, str] = field(default_factory=dict[Catalog, str])
    occurred: list[datetime] = field(default_factory=list[datetime])


@dataclass(slots=True)
class _Stream:
    """One locked catalog, as far as the transaction has brought it. `before` is what its cursor row says."""

    before: Cursor
    cursor: Cursor
    fresh: list[Incoming] = field(default_factory=list[Incoming])
    held: list[Incoming] = field(default_factory=list[Incoming])
    reached: dict[Ref, int] = field(default_factory=dict[Ref, int])
    marks: dict[int, Mark] = field(default_factory=dict[int, Mark])
    released: int = 0
    highest: int = 0


def apply_batch(conn: Conn, deliveries: Sequence[Delivery], history_epoch: str) -> Report:
    """Take these records' effect, keep those that have none, and move the offsets, in one transaction."""
    decoded = [read(delivery, history_epoch) for delivery in deliveries]
    report = Report()
    with conn.transaction():
        refused = [one for one in decoded if isinstance(one, Refused)]
        events = [one for one in decoded if isinstance(one, Incoming)]
        refused += _apply_events(conn, events, history_epoch, report)
        kept.insert_dead_letters(conn, refused)
        report.refused.update(one.reason for one in refused)
        kept.move_offsets(conn, _next_offsets(deliveries))
        failpoint("product.before_commit")
    failpoint("product.after_commit")
    return report


def release(conn: Conn, catalog: Catalog, history_epoch: str) -> Report:
    """Let those parked events of a catalog take effect that wait for nothing any more, RELEASED_AT_ONCE at most."""
    report = Report()
    with conn.transaction():
        cursor = store.lock_live(conn, [catalog], history_epoch)[catalog]
        if cursor.halted is None and cursor.history_epoch == history_epoch:
            stream = _Stream(
                cursor, cursor, [read_parked(value) for value in store.read_ready(conn, cursor, READ_AT_ONCE)]
            )
            stream.released = len(stream.fresh)
            _settle(conn, [stream], report)
    return report


def keep_unappliable(conn: Conn, delivery: Delivery, cause: str, history_epoch: str) -> Report:
    """Keep a record whose event the database refuses, alone, and go on: its position stays missing, and shows."""
    decoded = read(delivery, history_epoch)
    tenant_id = decoded.event.tenant_id if isinstance(decoded, Incoming) else decoded.tenant_id
    with conn.transaction():
        kept.insert_dead_letters(conn, [Refused(delivery, "cannot_apply", cause, tenant_id)])
        kept.move_offsets(conn, _next_offsets([delivery]))
    return Report(refused=Counter(["cannot_apply"]))


def _apply_events(conn: Conn, events: Sequence[Incoming], history_epoch: str, report: Report) -> list[Refused]:
    by_catalog: dict[Catalog, list[Incoming]] = defaultdict(list)
    for incoming in events:
        by_catalog[incoming.catalog].append(incoming)
    cursors = store.lock_live(conn, by_catalog.keys(), history_epoch)
    refused = [
        _foreign(one, cursors[one.catalog]) for one in events if cursors[one.catalog].history_epoch != history_epoch
    ]
    mine = [cursor for cursor in cursors.values() if cursor.history_epoch == history_epoch]
    taken = store.read_taken(conn, [(cursor, one) for cursor in mine for one in by_catalog[cursor.catalog]])
    streams: list[_Stream] = []
    for cursor in mine:
        found = sort_out(by_catalog[cursor.catalog], cursor, taken.get(cursor.catalog, {}))
        report.repeated += len(found.repeated)
        refused += [_contradicting(one, found.halted or "") for one in found.contradicting]
        if found.halted is not None and cursor.halted is None:
            report.halted[cursor.catalog] = found.halted
        streams.append(_Stream(cursor, replace(cursor, halted=found.halted), found.fresh, found.held))
    _settle(conn, streams, report)
    return refused


def _settle(conn: Conn, streams: Sequence[_Stream], report: Report) -> None:
    """Fold what is fresh, then what that releases, until nothing more is; then move the cursors."""
    held = [(stream.cursor, Parked(one, "halted")) for stream in streams for one in stream.held]
    store.write_parked(conn, held)
    report.parked += len(held)
    turning = [stream for stream in streams if stream.fresh]
    while turning:
        _fold(conn, turning, report)
        for stream in turning:
            stream.fresh = _released(conn, stream)
            stream.released += len(stream.fresh)
        turning = [stream for stream in turning if stream.fresh]
    report.released += sum(stream.released for stream in streams)
    moved = [_moved(conn, stream) for stream in streams]
    report.passed += sum(after.progress - stream.before.progress for after, stream in zip(moved, streams, strict=True))
    store.move_cursors(conn, [after for after, stream in zip(moved, streams, strict=True) if after != stream.before])


def _fold(conn: Conn, streams: Sequence[_Stream], report: Report) -> None:
    events = [(stream.cursor, incoming) for stream in streams for incoming in stream.fresh]
    revisions = store.read_revisions(conn, events)
    plans = [(stream, plan(stream.fresh, revisions.get(stream.cursor.catalog, {}))) for stream in streams]
    store.write_plans(conn, [(stream.cursor, made) for stream, made in plans])
    for stream, made in plans:
        _note(stream, made, report)
        if stream.released:
            done = [one.event.position for one in (*made.applied, *made.ignored) if one.delivery is None]
            store.delete_released(conn, stream.cursor, done)


def _note(stream: _Stream, made: Plan, report: Report) -> None:
    processed = [*made.applied, *made.ignored]
    stream.marks |= {one.event.position: Mark(one.event_id, one.sha256) for one in processed}
    stream.reached |= {ref: row.stamp.revision for ref, row in made.rows.items()}
    stream.highest = max([stream.highest, *(one.event.position for one in stream.fresh)])
    report.applied += len(made.applied)
    report.ignored += len(made.ignored)
    report.parked += sum(parked.incoming.delivery is not None for parked in made.parked)
    report.occurred += [row.stamp.occurred_at for row in made.rows.values()]


def _released(conn: Conn, stream: _Stream) -> list[Incoming]:
    if not stream.cursor.is_held or not stream.reached or stream.cursor.halted or stream.released >= RELEASED_AT_ONCE:
        return []
    return [read_parked(value) for value in store.read_waiting(conn, stream.cursor, stream.reached, READ_AT_ONCE)]


def _moved(conn: Conn, stream: _Stream) -> Cursor:
    highest = max([stream.cursor.highest, stream.highest, *(one.event.position for one in stream.held)])
    processed = stream.cursor.processed + len(stream.marks)
    cursor = replace(stream.cursor, highest=highest, processed=processed)
    marks: Mapping[int, Mark] = stream.marks
    while cursor.progress + 1 in marks:
        cursor = advance(cursor, marks)
        marks = store.read_marks(conn, cursor) if cursor.progress < cursor.highest else {}
    return cursor


def _foreign(incoming: Incoming, cursor: Cursor) -> Refused:
    cause = f"generation {cursor.generation} is of epoch {cursor.history_epoch}, not {incoming.event.history_epoch}"
    return Refused(_origin(incoming), "foreign_epoch", cause, incoming.event.tenant_id)


def _contradicting(incoming: Incoming, cause: str) -> Refused:
    return Refused(_origin(incoming), "position_conflict", cause, incoming.event.tenant_id)


def _origin(incoming: Incoming) -> Delivery:
    assert incoming.delivery is not None, "only what Kafka delivered is judged by its position"
    return incoming.delivery


def _next_offsets(deliveries: Iterable[Delivery]) -> dict[tuple[UUID, int], int]:
    offsets: dict[tuple[UUID, int], int] = {}
    for delivery in deliveries:
        place = (delivery.topic_id, delivery.partition)
        offsets[place] = max(offsets.get(place, 0), delivery.offset + 1)
    return offsets
