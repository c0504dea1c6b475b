"""⑦ which events can take effect now, which come too late, and which wait for what they rest on."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from assay_contracts.events import CatalogEvent

from assay_product.deliveries import Incoming
from assay_product.projection import Ref, Row, aggregate, fold

ParkReason = Literal["dependency", "data", "halted"]


class Need(NamedTuple):
    """A revision of an aggregate that must have taken effect."""

    ref: Ref
    revision: int


@dataclass(frozen=True, slots=True)
class Parked:
    """An event that waits; `need` is what for, where that is another event."""

    incoming: Incoming
    reason: ParkReason
    need: Need | None = None


@dataclass(slots=True)
class Plan:
    """What becomes of a stream's events. `rows` holds the last row of each aggregate that changed."""

    applied: list[Incoming] = field(default_factory=list[Incoming])
    ignored: list[Incoming] = field(default_factory=list[Incoming])
    parked: list[Parked] = field(default_factory=list[Parked])
    rows: dict[Ref, Row] = field(default_factory=dict[Ref, Row])


def needs(event: CatalogEvent) -> list[Need]:
    """The revision before its own, which no event lists, and its dependencies."""
    listed = [Need(Ref(one.type, one.id), one.revision) for one in event.dependencies]
    if event.revision == 1:
        return listed
    return [Need(aggregate(event), event.revision - 1), *listed]


def plan(events: Iterable[Incoming], revisions: Mapping[Ref, int]) -> Plan:
    """Decide on the events of one stream, given the revision that each aggregate they name has now (none: absent).

    Events release one another whatever their order, so only what rests on an event from outside stays parked.
    """
    made = Plan()
    reached = dict(revisions)
    waiting: dict[Ref, list[Parked]] = defaultdict(list)
    queue = deque(sorted(events, key=lambda incoming: incoming.event.position))
    while queue:
        incoming = queue.popleft()
        event, ref = incoming.event, aggregate(incoming.event)
        missing = next((need for need in needs(event) if reached.get(need.ref, 0) < need.revision), None)
        if event.revision <= reached.get(ref, 0):
            made.ignored.append(incoming)
        elif missing is not None:
            waiting[missing.ref].append(Parked(incoming, "dependency", missing))
        elif event.data is None:
            made.parked.append(Parked(incoming, "data"))
        else:
            made.applied.append(incoming)
            made.rows[ref] = fold(event, event.data)
            reached[ref] = event.revision
            queue.extendleft(parked.incoming for parked in reversed(waiting.pop(ref, [])))
    made.parked.extend(parked for group in waiting.values() for parked in group)
    return made
