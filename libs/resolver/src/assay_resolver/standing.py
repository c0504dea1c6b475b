"""Which parts of a decision are still as it left them: what an undo may withdraw, and what stands in its way."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from assay_runtime import sql

from assay_resolver import facts, pins, speaking, verdicts
from assay_resolver.facts import ItemState
from assay_resolver.parts import STANDS, Part
from assay_resolver.pins import Pin
from assay_resolver.placing import mapping_of
from assay_resolver.reading import Document, Listing
from assay_resolver.streams import Connection, Stream
from assay_resolver.verdicts import Verdict

_CASE = sql.load("assay_resolver", "review_case")
_PART = sql.load("assay_resolver", "part")


@dataclass(frozen=True, slots=True)
class Now:
    """What some parts are about, as it stands; the listings are held."""

    items: Mapping[str, ItemState]
    listings: Mapping[str, Listing]
    pins: Mapping[str, Pin | None]
    verdicts: Mapping[tuple[str, str], Verdict]
    cases: Mapping[str, str]
    superseded: Set[str]

    def of(self, part: Part) -> Document | None:
        """The thing of a part, as a part would keep it."""
        match part.kind:
            case "item":
                return self.items[part.id].document
            case "mapping":
                return mapping_of(self.listings[part.id])
            case "listing":
                return speaking.listing_of(self.listings[part.id])
            case "pin":
                pin = self.pins[part.id]
                return None if pin is None else pin.document
            case "verdict":
                return STANDS if pair_of(part) in self.verdicts else None
            case "case":
                return {"state": self.cases[part.id]}


async def look(conn: Connection, stream: Stream, about: Sequence[Part]) -> Now:
    """How everything stands that some parts are about; their listings are locked first, in order."""
    ids = {one.id for one in about if one.kind in ("mapping", "listing")}
    ids |= {other for one in about if one.kind == "verdict" for other in pair_of(one) if other.startswith("lst_")}
    listings = await speaking.lock(conn, stream, sorted(ids))
    items = {one.id for one in about if one.kind == "item"}
    items |= {str(state[key]) for one in about for state in (one.before,) if state for key in ("into", "home")
              if key in state}  # fmt: skip
    cases = await conn.execute(
        _CASE["case_states"], {**stream.scope, "cases": [one.id for one in about if one.kind == "case"]}
    )
    return Now(
        items=await facts.item_states(conn, stream, items),
        listings=listings,
        pins={one.id: await pins.standing(conn, stream, *one.id.split("/")) for one in about if one.kind == "pin"},
        verdicts=await verdicts.find(conn, stream, [pair_of(one) for one in about if one.kind == "verdict"]),
        cases=dict(await cases.fetchall()),
        superseded=await speaking.superseded(conn, stream, ids),
    )


def stands(part: Part, now: Now) -> bool:
    """Whether a part is still as its decision left it, and what was before it can be again.

    How a listing speaks is its source's to change: only a state that the decision gave it counts.
    """
    current = now.of(part)
    match part.kind:
        case "mapping":
            return _home(current) == _home(part.after) and _can_return(part, now)
        case "listing":
            return _state(part.before) == _state(part.after) or (
                _state(current) == _state(part.after) and _can_live_again(part, now)
            )
        case "item":
            return current == part.after and _can_merge_again(part, now)
        case "pin" | "verdict" | "case":
            return current == part.after


def matters(part: Part) -> bool:
    """Whether a part can stand in the way: cases follow what they ask about, readings are their source's to change."""
    return part.kind != "case" and (part.kind != "listing" or _state(part.before) != _state(part.after))


def _home(document: Document | None) -> object:
    return None if document is None else document["home"]


def _state(document: Document | None) -> object:
    return None if document is None else document["state"]


def _can_return(part: Part, now: Now) -> bool:
    """Nothing returns to an item whose making was undone since, and no listing that gave way to another."""
    if part.before is None:
        return True
    gave_way = part.id in now.superseded and now.listings[part.id].state not in speaking.LIVE
    return not gave_way and not _is_undone(now.items[str(part.before["home"])])


def _can_live_again(part: Part, now: Now) -> bool:
    return part.id not in now.superseded or _state(part.before) not in speaking.LIVE


def _is_undone(item: ItemState) -> bool:
    return item.document == {"state": "retired", "reason": "undone"}


def _can_merge_again(part: Part, now: Now) -> bool:
    """An item goes back into another only if that one has not become part of it."""
    return _state(part.before) != "merged" or now.items[str((part.before or {})["into"])].root != part.id


def pair_of(part: Part) -> tuple[str, str]:
    """The pair of a verdict's part; a key may hold spaces, ids do not."""
    left, _, right = part.id.rpartition(" ")
    return left, right


async def conflicts(
    conn: Connection, stream: Stream, decision_id: str, parts_: Iterable[Part], now: Now
) -> list[dict[str, object]]:
    """Parts that stand in the way of an undo, as they are now, and the later decisions about them."""
    listed = list(parts_)
    columns = {"kinds": [one.kind for one in listed], "subjects": [one.id for one in listed]}
    rows = await conn.execute(_PART["later_parts"], {**stream.scope, **columns, "decision_id": decision_id})
    later: dict[tuple[str, str], list[str]] = {}
    for kind, id_, changed_by in await rows.fetchall():
        later.setdefault((kind, id_), []).append(changed_by)
    return [{**one.shown(), "current": now.of(one), "changed_by": later.get((one.kind, one.id), [])} for one in listed]
