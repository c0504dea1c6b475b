"""A person at work in a test: each call is one decision in a transaction of its own."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count

from assay_resolver import items, mappings, pins, undoing
from assay_resolver.decisions import Asked, Decided
from assay_resolver.identity import Key
from assay_resolver.pins import PinRequest
from assay_resolver.streams import Connection

from .world import World

_requests = count(1)


@dataclass(frozen=True)
class Person:
    """Decides in one world, having looked at everything just before."""

    world: World
    conn: Connection

    def asked(self, *overrules: str) -> Asked:
        """A request that nobody has made yet."""
        return Asked(self.world.stream, f"person-{next(_requests)}", "ann", "I looked", overrules)

    async def run(self, act: Callable[[], Awaitable[Decided]]) -> Decided:
        """One decision, committed."""
        async with self.conn.transaction():
            return await act()

    def seen(self, *item_ids: str) -> dict[str, int]:
        """Items at the revisions at which they are."""
        return {item_id: self.world.revision(item_id) for item_id in item_ids}

    async def merge(self, item_id: str, into: str, *overrules: str) -> Decided:
        seen = self.seen(item_id, into)
        return await self.run(lambda: items.merge(self.conn, self.asked(*overrules), seen, item_id, into))

    async def split(self, item_id: str, *listings: str) -> Decided:
        seen = self.seen(item_id)
        return await self.run(lambda: items.split(self.conn, self.asked(), seen, item_id, listings))

    async def retire(self, item_id: str, reason: items.Reason = "discontinued") -> Decided:
        seen = self.seen(item_id)
        return await self.run(lambda: items.retire(self.conn, self.asked(), seen, item_id, reason))

    async def revive(self, item_id: str) -> Decided:
        seen = self.seen(item_id)
        return await self.run(lambda: items.revive(self.conn, self.asked(), seen, item_id))

    async def map(self, listing_id: str, item_id: str, *overrules: str) -> Decided:
        seen = self.mapping_seen(listing_id)
        return await self.run(
            lambda: mappings.set_mapping(self.conn, self.asked(*overrules), seen, listing_id, item_id)
        )

    async def clear(self, listing_id: str) -> Decided:
        seen = self.mapping_seen(listing_id)
        return await self.run(lambda: mappings.clear_mapping(self.conn, self.asked(), seen, listing_id))

    async def differ(self, one: str, other: str) -> Decided:
        return await self.run(lambda: mappings.say_differ(self.conn, self.asked(), one, other))

    async def key_is_wrong(self, listing_id: str, key: str) -> Decided:
        seen = self.mapping_seen(listing_id)
        return await self.run(
            lambda: mappings.call_key_wrong(self.conn, self.asked(), seen, listing_id, Key.named(key))
        )

    async def pin(self, item_id: str, name: str, value: dict[str, object]) -> Decided:
        asked = self.asked()
        wanted = PinRequest(self.world.stream, item_id, name, value, asked.request_id, asked.actor, asked.rationale)
        return await self.run(lambda: pins.pin_value(self.conn, wanted))

    async def unpin(self, item_id: str, name: str) -> Decided:
        return await self.run(lambda: pins.withdraw_pin(self.conn, self.asked(), item_id, name))

    async def undo(self, decision: Decided | str, *, partial: bool = False) -> Decided:
        decision_id = decision if isinstance(decision, str) else decision.decision_id
        return await self.run(lambda: undoing.undo(self.conn, self.asked(), decision_id, partial=partial))

    def mapping_seen(self, listing_id: str) -> int:
        """The revision of a listing's mapping, 0 before the first."""
        rows = self.world.rows("SELECT revision FROM mapping WHERE listing_id = %s", listing_id)
        return int(str(rows[0][0])) if rows else 0


def types(decided: Decided) -> list[str]:
    """The types of a decision's events, in order."""
    return [event.type for event in decided.events]
