"""What an adapter read from one artifact: statements exactly as they stand, and where they stand."""

import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from itertools import islice
from typing import Literal, cast

from assay_contracts import bounds

Outcome = Literal["ok", "nothing", "broken"]
PlaceSyntax = Literal["json_pointer", "xpath"]

MAX_FACTS = 500
MAX_LINES = 100
RAW_KEPT = 20_001
"""Characters kept of one statement: one more than the longest value (a description), so that too long shows."""
LINE_KEPT = 100
NODE_BYTES = 2_000
"""What still fits a B-tree entry beside the ids of tenant, catalog and capture."""


@dataclass(frozen=True, slots=True)
class RawFact:
    """One statement about one product, unread: `name` is a registry name, `line` an offer line or ''.

    `node` names the product within the artifact; `raw` is what stands at `place`, cut at RAW_KEPT characters.
    """

    node: str
    name: str
    line: str
    raw: str
    place_syntax: PlaceSyntax
    place: str


@dataclass(frozen=True, slots=True)
class Found:
    """One adapter's result on one artifact; `products` counts the products met, of which one is read."""

    outcome: Outcome
    found: tuple[RawFact, ...] = ()
    products: int = 0


NOTHING = Found("nothing")
BROKEN = Found("broken")


def bounded(facts: Iterable[RawFact]) -> tuple[RawFact, ...]:
    """Keep the first facts whose place and node can be stored; a place of '' was too dear to work out."""
    kept = (fact for fact in facts if 0 < len(fact.place) <= bounds.PLACE and not fact.place.startswith("/@"))
    return tuple(islice((fact for fact in kept if len(fact.node.encode()) <= NODE_BYTES), MAX_FACTS))


def to_json(facts: Iterable[RawFact]) -> bytes:
    """Return the compact JSON that an extraction stores: a list of lists in the order of RawFact's fields."""
    rows = [astuple(fact) for fact in facts]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()


def from_json(data: bytes) -> tuple[RawFact, ...]:
    """Read what `to_json` wrote; it is our own column, so anything else is a fatal ValueError or TypeError."""
    rows = cast("list[list[str]]", json.loads(data))
    return tuple(RawFact(*cast("tuple[str, str, str, str, PlaceSyntax, str]", tuple(row))) for row in rows)
