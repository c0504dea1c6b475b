"""What a source states, as a decision sees it: facts with their evidence, readings, and their listings."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, cast

ListingState = Literal["open", "gone", "replaced", "rejected"]
Document = Mapping[str, object]
Order = tuple[datetime, datetime, str, int]
"""When a source looked: observed_at, received_at, receipt_id, attempt_group."""


def canonical(document: Document) -> str:
    """The one JSON text of a value: compact, keys sorted; values are equal when these bytes are."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def document_of(text: str) -> dict[str, object]:
    """Read a canonical text back; it comes from our own columns only."""
    return cast("dict[str, object]", json.loads(text))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a fact was read, as events show it. raw: at most 200 characters."""

    receipt_id: str
    capture_id: str
    source_id: str
    sha256: str
    media_type: str
    place_syntax: str
    place: str
    raw: str
    adapter: str
    profile: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A source states this. value: canonical JSON of a contracts value; facts without one do not come here."""

    reading_id: str
    n: int
    name: str
    line: str
    value: str
    evidence: Evidence

    @property
    def document(self) -> dict[str, object]:
        return document_of(self.value)


@dataclass(frozen=True, slots=True)
class Reading:
    """One product in one capture. Readings of one listing are ordered by `order`; the latest speaks."""

    reading_id: str
    capture_id: str
    source_id: str
    key: str
    group_key: str | None
    url: str | None
    digest: bytes
    observed_at: datetime
    received_at: datetime
    receipt_id: str
    attempt_group: int
    facts: tuple[Fact, ...]

    @property
    def order(self) -> Order:
        return (self.observed_at, self.received_at, self.receipt_id, self.attempt_group)

    def first(self, name: str, line: str = "") -> Fact | None:
        """The fact that speaks for a name and line: the lowest n."""
        return next((fact for fact in self.facts if fact.name == name and fact.line == line), None)


@dataclass(frozen=True, slots=True)
class Listing:
    """A source's thing, with its current reading as it is heard, and the item it maps to, if any.

    home_item_id is asserted, item_id is its root; mapping_revision is 0 before the first mapping. wrong names the keys
    that a person called wrong. silent_look: the latest look by which the listing does not speak, if one was remembered.
    """

    listing_id: str
    source_id: str
    key: str
    serial: int
    url: str | None
    state: ListingState
    trust: int
    reading: Reading
    item_id: str | None = None
    home_item_id: str | None = None
    mapping_revision: int = 0
    wrong: tuple[str, ...] = ()
    silent_look: Order | None = None

    @property
    def looked(self) -> Order:
        """The latest look, whatever came of it: what is older changes nothing that is newer."""
        return self.reading.order if self.silent_look is None else max(self.reading.order, self.silent_look)

    @property
    def rank(self) -> tuple[int, int, str, str, int]:
        """Open before gone or replaced, trusted before less, then by name: the same however listings arrived."""
        return (0 if self.state == "open" else 1, -self.trust, self.source_id, self.key, self.serial)
