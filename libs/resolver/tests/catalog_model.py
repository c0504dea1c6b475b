"""What a catalog asserts, as plain values, and what each decision must do to it: the model that the core is held to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["item", "mapping", "pin", "verdict", "listing"]
Ref = tuple[Kind, str]
Value = tuple[str, ...]
Asserted = dict[Ref, Value]
"""item: (active), (retired, reason), (merged, into); mapping: (home); pin: (reading); verdict: (); listing: (state)."""

ACTIVE: Value = ("active",)
UNDONE: Value = ("retired", "undone")
LIVE: tuple[Value, ...] = (("open",), ("gone",))


@dataclass(frozen=True)
class Past:
    """A decision with its parts: what it asserted, before and after."""

    decision_id: str
    parts: Mapping[Ref, tuple[Value | None, Value | None]]


@dataclass
class Refusal(Exception):
    """A decision that must be refused, by the name of its error."""

    error: str


@dataclass
class Model:
    """One catalog. Acts change it or raise Refusal."""

    asserted: Asserted = field(default_factory=dict[Ref, Value])
    superseded: set[str] = field(default_factory=set[str])

    def item(self, item_id: str) -> Value:
        return self.asserted["item", item_id]

    def home(self, listing_id: str) -> str | None:
        found = self.asserted.get(("mapping", listing_id))
        return None if found is None else found[0]

    def root(self, item_id: str) -> str:
        """Where an item leads in the end."""
        while self.item(item_id)[0] == "merged":
            item_id = self.item(item_id)[1]
        return item_id

    def items(self) -> list[str]:
        return sorted(id_ for kind, id_ in self.asserted if kind == "item")

    def listings(self) -> list[str]:
        return sorted(id_ for kind, id_ in self.asserted if kind == "listing")

    def members(self, root: str) -> list[str]:
        """The listings that are an item."""
        return [one for one in self.listings() if (home := self.home(one)) is not None and self.root(home) == root]

    def tree(self, root: str) -> set[str]:
        return {one for one in self.items() if self.root(one) == root} | set(self.members(root))

    def verdicts_between(self, one: Iterable[str], other: Iterable[str]) -> list[str]:
        """The standing verdicts between two trees."""
        left, right = set(one), set(other)
        pairs = [tuple(id_.split(" ")) for kind, id_ in self.asserted if kind == "verdict"]
        return [f"{a} {b}" for a, b in pairs if (a in left and b in right) or (a in right and b in left)]

    def differ(self, one: str, other: str) -> None:
        self.asserted["verdict", " ".join(sorted((one, other)))] = ()

    def overrule(self, one: Iterable[str], other: Iterable[str], named: bool) -> None:
        """Verdicts in the way are withdrawn if they are named."""
        standing = self.verdicts_between(one, other)
        if standing and not named:
            raise Refusal("VerdictStands")
        for pair in standing:
            del self.asserted["verdict", pair]

    def merge(self, item_id: str, into: str, named: bool) -> None:
        if self.root(item_id) == self.root(into):
            raise Refusal("AlreadySo")
        if self.item(item_id)[0] == "merged" or self.item(into) != ACTIVE:
            raise Refusal("UnknownItem")
        self.overrule(self.tree(item_id), self.tree(into), named)
        self.asserted["item", item_id] = ("merged", into)

    def split(self, item_id: str, listings: Iterable[str], new: str) -> None:
        self.check_split(item_id, listings)
        self.asserted["item", new] = ACTIVE
        for one in listings:
            self.asserted["mapping", one] = (new,)
        self.differ(item_id, new)

    def check_split(self, item_id: str, listings: Iterable[str]) -> None:
        if self.item(item_id)[0] == "merged":
            raise Refusal("UnknownItem")
        if not set(listings) or not set(listings) < set(self.members(item_id)):
            raise Refusal("NotInItem")

    def retire(self, item_id: str, reason: str) -> None:
        state = self.item(item_id)[0]
        if state != "active":
            raise Refusal("UnknownItem" if state == "merged" else "AlreadySo")
        self.asserted["item", item_id] = ("retired", reason)

    def revive(self, item_id: str) -> None:
        state = self.item(item_id)[0]
        if state != "retired":
            raise Refusal("UnknownItem" if state == "merged" else "AlreadySo")
        self.asserted["item", item_id] = ACTIVE

    def map(self, listing_id: str, item_id: str, named: bool) -> None:
        home = self.home(listing_id)
        if self.item(item_id) != ACTIVE:
            raise Refusal("UnknownItem")
        if home is not None and self.root(home) == item_id:
            raise Refusal("AlreadySo")
        if self.verdicts_between([listing_id], self.tree(item_id)) and not named:
            raise Refusal("VerdictStands")
        if self._gave_way(listing_id):
            raise Refusal("Superseded")
        self.overrule([listing_id], self.tree(item_id), named)
        if self.asserted["listing", listing_id] == ("rejected",):
            self.asserted["listing", listing_id] = ("open",)
        self.asserted["mapping", listing_id] = (item_id,)

    def clear(self, listing_id: str) -> None:
        home = self.home(listing_id)
        if home is None:
            raise Refusal("AlreadySo")
        del self.asserted["mapping", listing_id]
        self.differ(listing_id, home)

    def say_differ(self, one: str, other: str) -> None:
        roots = [self._root_of(thing) for thing in (one, other)]
        if one == other or (roots[0] is not None and roots[0] == roots[1]):
            raise Refusal("Changed")
        if ("verdict", " ".join(sorted((one, other)))) in self.asserted:
            raise Refusal("AlreadySo")
        self.differ(one, other)

    def _gave_way(self, listing_id: str) -> bool:
        return listing_id in self.superseded and self.asserted["listing", listing_id] not in LIVE

    def _root_of(self, thing: str) -> str | None:
        home = self.home(thing) if thing.startswith("lst_") else thing
        return None if home is None else self.root(home)

    def undo(self, past: Past, partial: bool) -> None:
        """Withdraw what still stands."""
        if not past.parts:
            raise Refusal("NothingToUndo")
        held = {ref: part for ref, part in past.parts.items() if self._stands(ref, *part)}
        if len(held) < len(past.parts) and not (partial and held):
            raise Refusal("UndoConflict")
        left = self._left_apart(held)
        for ref, (before, _) in held.items():
            if before is not None:
                self.asserted[ref] = before
            elif ref[0] != "item":
                self.asserted.pop(ref, None)
        made = [id_ for (kind, id_), (before, _) in held.items() if kind == "item" and before is None]
        gone = [one for one in made if not self.members(one)]
        gone += [
            id_ for (kind, id_), (before, _) in held.items() if kind == "item" and before and before[0] == "retired"
        ]
        for one in made:
            if one in gone:
                self.asserted["item", one] = UNDONE
        for one, other, home in left:
            if home not in gone:
                self.differ(one, other)

    def _left_apart(self, held: Mapping[Ref, tuple[Value | None, Value | None]]) -> list[tuple[str, str, str | None]]:
        """Pairs that an undo tells apart, with the item whose retirement makes that idle."""
        left: list[tuple[str, str, str | None]] = []
        for (kind, id_), (before, after) in held.items():
            if kind == "item" and after is not None and after[0] == "merged":
                left.append((id_, after[1], None))
            if kind == "mapping" and before is None and after is not None:
                left.append((id_, after[0], after[0]))
        return left

    def _stands(self, ref: Ref, before: Value | None, after: Value | None) -> bool:
        if self.asserted.get(ref) != after:
            return False
        if ref[0] == "listing" and before in LIVE and ref[1] in self.superseded:
            return False
        if ref[0] == "mapping" and before is not None:
            return self.item(before[0]) != UNDONE and not self._gave_way(ref[1])
        if ref[0] == "item" and before is not None and before[0] == "merged":
            return self.root(before[1]) != ref[1]
        return True


def parts_of(before: Asserted, after: Asserted) -> dict[Ref, tuple[Value | None, Value | None]]:
    """What differs between two moments."""
    refs = sorted(before.keys() | after.keys())
    return {ref: (before.get(ref), after.get(ref)) for ref in refs if before.get(ref) != after.get(ref)}
