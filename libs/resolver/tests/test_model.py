"""Random histories of several streams, held to the model after every step, and undone back to their start at the end.

STEPS says how many steps there are in all; each history has HISTORY of them on a database of its own.
"""

import asyncio
import os
import uuid
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import psycopg
import pytest
from assay_cli.stack import databases
from assay_cli.stack.databases import Database
from assay_contracts.ids import new_id
from assay_resolver import case_view, cases, items
from assay_resolver.cases import CaseRequest
from assay_resolver.decisions import Decided
from assay_resolver.errors import Changed, ResolverError
from assay_resolver.rules import Resolved
from assay_resolver.streams import Connection
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from .catalog_model import Asserted, Model, Past, Ref, Refusal, Value, parts_of
from .deciding import Person
from .world import World, product, text

T = TypeVar("T")

STEPS = int(os.environ.get("STEPS", "150"))
HISTORY = 30
PHASES = (Phase.generate, Phase.shrink) if os.environ.get("SHRINK") else (Phase.generate,)
GTINS = ("04006381333931", "04006381333948", "04006381333955")
NUMBER = st.integers(0, 1_000)

_ASSERTED = """
SELECT 'item', i.item_id, i.state, COALESCE(i.merged_into, c.data::json ->> 'reason') FROM item i
JOIN change c ON c.catalog_id = i.catalog_id AND c.aggregate = 'item' AND c.id = i.item_id AND c.revision = i.revision
WHERE i.catalog_id = %(c)s
UNION ALL SELECT 'mapping', listing_id, home_item_id, NULL FROM mapping
    WHERE catalog_id = %(c)s AND home_item_id IS NOT NULL
UNION ALL SELECT 'pin', item_id || '/' || name, reading_id, NULL FROM pin
    WHERE catalog_id = %(c)s AND withdrawn_by IS NULL
UNION ALL SELECT 'verdict', "left" || ' ' || "right", NULL, NULL FROM verdict
    WHERE catalog_id = %(c)s AND withdrawn_by IS NULL
UNION ALL SELECT 'listing', listing_id, state, NULL FROM listing WHERE catalog_id = %(c)s
"""


Act = Coroutine[object, object, T]


class Broken(Exception):
    """A writer that gives up before it commits."""


@dataclass
class Side:
    """One stream: the world, somebody who decides in it, and what must be there."""

    world: World
    person: Person
    model: Model = field(default_factory=Model)
    position: int = 0
    pasts: list[Past] = field(default_factory=list[Past])
    start: Asserted = field(default_factory=dict[Ref, Value])
    shown: dict[str, list[tuple[object, ...]]] = field(default_factory=dict[str, list[tuple[object, ...]]])
    spoken: bool = False

    def read(self) -> Asserted:
        """What the database asserts."""
        rows = self.world.rows(_ASSERTED.replace("%(c)s", f"'{self.world.catalog}'"))
        return {(kind, id_): tuple(str(one) for one in values if one is not None) for kind, id_, *values in rows}  # pyright: ignore[reportReturnType]  # the kinds are in the query

    def superseded(self) -> set[str]:
        """Listings in whose place another one is live."""
        rows = self.world.rows(
            "SELECT l.listing_id FROM listing l JOIN listing o USING (catalog_id, source_id, key)"
            " WHERE o.listing_id <> l.listing_id AND o.state IN ('open', 'gone') AND l.catalog_id = %s",
            self.world.catalog,
        )
        return {str(row[0]) for row in rows}

    def pick(self, ids: list[str], number: int) -> str:
        return ids[number % len(ids)]

    def picture(self) -> dict[str, list[tuple[object, ...]]]:
        """What stands of the things that were there at the start."""
        begun = {id_ for _, id_ in self.start}
        return {
            name: [row for row in rows if {row[0], row[-1]} & begun or name == "item_key"]
            for name, rows in self.world.picture().items()
        }


class Catalogs(RuleBasedStateMachine):
    """Several streams of one tenant in a database of their own."""

    template: Database

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.database = databases.copy(self.template, f"model_{uuid.uuid4().hex}")
        self.admin = psycopg.connect(self.database.admin_dsn, autocommit=True)
        self.stages, self.people = self.runner.run(self._connect())
        self.sides = [self._begin(name) for name in ("cat_main", "cat_other")]

    async def _connect(self) -> tuple[Connection, Connection]:
        stages = await psycopg.AsyncConnection.connect(self.database.dsn("assay_stages"))
        people = await psycopg.AsyncConnection.connect(self.database.dsn("assay_resolver_api"))
        await people.execute("SELECT set_config('assay.tenant_id', 'ten_one', false)")
        await people.commit()
        return stages, people

    def _begin(self, catalog: str) -> Side:
        world = World(self.admin, catalog=catalog).found()
        side = Side(world, Person(world, self.people))
        for page in range(4):
            self._see(side, page, page, "red")
        side.pasts.clear()
        side.start, side.shown, side.spoken = dict(side.model.asserted), side.world.picture(), False
        return side

    def teardown(self) -> None:
        """Nothing is wrong, and every history leads back to its start."""
        try:
            if all(side.start for side in getattr(self, "sides", [])):
                assert self.sides[0].world.wrongs() == []
                for side in self.sides:
                    self._unwind(side)
                assert self.sides[0].world.wrongs() == []
        finally:
            self.runner.run(self._disconnect())
            self.runner.close()
            self.admin.close()
            databases.drop(self.database)

    async def _disconnect(self) -> None:
        await self.stages.close()
        await self.people.close()

    def _unwind(self, side: Side) -> None:
        for past in reversed(list(side.pasts)):
            self._expect(
                side, lambda past=past: side.person.undo(past.decision_id), lambda p=past: side.model.undo(p, False)
            )
        if not side.spoken:
            kept = {ref: value for ref, value in side.model.asserted.items() if ref in side.start}
            assert kept == side.start

    # What sources do

    @rule(side=NUMBER, page=st.integers(0, 6), gtin=st.integers(0, 3), color=st.sampled_from(["red", "blue"]))
    def see(self, side: int, page: int, gtin: int, color: str) -> None:
        """A page is captured: new, changed, or with another key."""
        self._see(self._side(side), page, gtin, color)

    @rule(side=NUMBER, page=st.integers(0, 6))
    def lose(self, side: int, page: int) -> None:
        """A page is gone."""
        chosen = self._side(side)
        chosen.spoken = True
        self._adopt_all(chosen, lambda: chosen.world.see(self.stages, {}, url=self._url(chosen, page), status=404))

    # What people decide

    @rule(side=NUMBER, item=NUMBER, into=NUMBER, named=st.booleans())
    def merge(self, side: int, item: int, into: int, named: bool) -> None:
        """One item becomes part of another."""
        at = self._side(side)
        one, other = at.pick(at.model.items(), item), at.pick(at.model.items(), into)
        overrules = self._verdict_decisions(at) if named else ()
        if one != other:
            self._expect(at, lambda: at.person.merge(one, other, *overrules), lambda: at.model.merge(one, other, named))

    @rule(side=NUMBER, item=NUMBER, chosen=st.integers(1, 15))
    def split(self, side: int, item: int, chosen: int) -> None:
        """Some listings of an item become another."""
        at = self._side(side)
        one = at.pick(at.model.items(), item)
        listings = [id_ for n, id_ in enumerate(at.model.listings()) if chosen >> n & 1]
        before = set(at.model.items())

        def expected() -> None:
            at.model.check_split(one, listings)
            (new,) = {id_ for kind, id_ in at.read() if kind == "item"} - before
            at.model.split(one, listings, new)

        self._expect(at, lambda: at.person.split(one, *listings), expected)

    @rule(side=NUMBER, item=NUMBER, reason=st.sampled_from(["not_a_product", "discontinued", "other"]))
    def retire(self, side: int, item: int, reason: str) -> None:
        """An item is hidden."""
        at = self._side(side)
        one = at.pick(at.model.items(), item)
        self._expect(at, lambda: at.person.retire(one, reason), lambda: at.model.retire(one, reason))  # pyright: ignore[reportArgumentType]  # sampled from the three

    @rule(side=NUMBER, item=NUMBER)
    def revive(self, side: int, item: int) -> None:
        """An item is shown again."""
        at = self._side(side)
        one = at.pick(at.model.items(), item)
        self._expect(at, lambda: at.person.revive(one), lambda: at.model.revive(one))

    @rule(side=NUMBER, listing=NUMBER, item=NUMBER, named=st.booleans())
    def map(self, side: int, listing: int, item: int, named: bool) -> None:
        """A listing is said to be an item."""
        at = self._side(side)
        one, other = at.pick(at.model.listings(), listing), at.pick(at.model.items(), item)
        overrules = self._verdict_decisions(at) if named else ()
        self._expect(at, lambda: at.person.map(one, other, *overrules), lambda: at.model.map(one, other, named))

    @rule(side=NUMBER, listing=NUMBER)
    def clear(self, side: int, listing: int) -> None:
        """A listing is said to be no item."""
        at = self._side(side)
        one = at.pick(at.model.listings(), listing)
        self._expect(at, lambda: at.person.clear(one), lambda: at.model.clear(one))

    @rule(side=NUMBER, one=NUMBER, other=NUMBER)
    def differ(self, side: int, one: int, other: int) -> None:
        """Two things are told apart."""
        at = self._side(side)
        things = [*at.model.items(), *at.model.listings()]
        left, right = at.pick(things, one), at.pick(things, other)
        self._expect(at, lambda: at.person.differ(left, right), lambda: at.model.say_differ(left, right))

    @rule(side=NUMBER, item=NUMBER, color=st.sampled_from(["green", "grey"]))
    def pin(self, side: int, item: int, color: str) -> None:
        """A value is stated."""
        at = self._side(side)
        one = at.pick([id_ for id_ in at.model.items() if at.model.item(id_)[0] == "active"] or ["item_none"], item)
        if one != "item_none":
            self._adopt(at, lambda: at.person.pin(one, "color", text(color)))
            assert ("pin", f"{one}/color") in at.model.asserted

    @rule(side=NUMBER, item=NUMBER)
    def unpin(self, side: int, item: int) -> None:
        """A stated value is withdrawn."""
        at = self._side(side)
        one = at.pick(at.model.items(), item)

        def expected() -> None:
            if at.model.asserted.pop(("pin", f"{one}/color"), None) is None:
                raise Refusal("AlreadySo")

        self._expect(at, lambda: at.person.unpin(one, "color"), expected)

    @rule(side=NUMBER, past=NUMBER, partial=st.booleans())
    def undo(self, side: int, past: int, partial: bool) -> None:
        """Any decision is undone, a rule's, a person's, or an undo."""
        at = self._side(side)
        if at.pasts:
            chosen = at.pasts[past % len(at.pasts)]
            self._expect(
                at,
                lambda: at.person.undo(chosen.decision_id, partial=partial),
                lambda: at.model.undo(chosen, partial),
            )

    @rule(side=NUMBER, number=NUMBER, answer=st.sampled_from(["accept", "create", "reject"]))
    def answer(self, side: int, number: int, answer: str) -> None:
        """An open question is answered."""
        at = self._side(side)
        rows = self.runner.run(self._open_cases(at))
        if not rows:
            return
        row = rows[number % len(rows)]
        if row.subject in at.model.superseded:
            return
        named = [id_ for id_ in self.runner.run(self._candidates(at, row)) if at.model.item(id_)[0] == "active"]
        request = CaseRequest(
            at.world.stream, row.case_id, row.revision, new_id("evt"), "ann", "so", self._verdict_decisions(at)
        )
        if answer == "accept" and named:
            self._adopt(at, lambda: at.person.run(lambda: cases.accept(self.people, request, named[0])))
            assert at.model.root(str(at.model.home(row.subject))) == named[0]
        elif answer == "create":
            self._adopt(at, lambda: at.person.run(lambda: cases.create_item(self.people, request)))
            assert at.model.home(row.subject) is not None
        elif answer == "reject":
            self._adopt(at, lambda: at.person.run(lambda: cases.reject(self.people, request)))
            assert at.model.asserted["listing", row.subject] == ("rejected",)

    # What goes wrong

    @rule(side=NUMBER, item=NUMBER)
    def look_too_long(self, side: int, item: int) -> None:
        """A decision about an old picture is refused."""
        at = self._side(side)
        one = at.pick(at.model.items(), item)
        seen = {id_: revision - 1 for id_, revision in at.person.seen(one).items()}
        with pytest.raises(Changed):
            self.runner.run(at.person.run(lambda: items.retire(self.people, at.person.asked(), seen, one, "other")))
        self._check(at)

    @rule(side=NUMBER, listing=NUMBER, item=NUMBER)
    def give_up(self, side: int, listing: int, item: int) -> None:
        """A writer that dies before its commit leaves nothing, not even a position."""
        at = self._side(side)
        one, other = at.pick(at.model.listings(), listing), at.pick(at.model.items(), item)
        overrules = self._verdict_decisions(at)
        with pytest.raises((Broken, ResolverError)):
            self.runner.run(self._break_off(at, one, other, overrules))
        self._check(at)

    async def _break_off(self, at: Side, listing: str, item: str, overrules: tuple[str, ...]) -> None:
        async with self.people.transaction():
            await at.person.map(listing, item, *overrules)
            raise Broken

    @precondition(lambda self: any(side.pasts for side in self.sides))  # pyright: ignore[reportUnknownLambdaType, reportUnknownMemberType, reportUnknownVariableType, reportUnknownArgumentType]  # hypothesis' own lambda
    @rule(side=NUMBER, item=NUMBER)
    def repeat(self, side: int, item: int) -> None:
        """A request that comes again gets the first answer, whatever has happened since."""
        at = self._side(side)
        one = at.pick(at.model.items(), item)
        asked, seen = at.person.asked(), at.person.seen(one)

        def act() -> Act[Decided]:
            return at.person.run(lambda: items.retire(self.people, asked, seen, one, "other"))

        known = len(at.pasts)
        self._expect(at, act, lambda: at.model.retire(one, "other"))
        if len(at.pasts) > known:
            again = self.runner.run(act())
            assert again.repeated and again.decision_id == at.pasts[-1].decision_id
            self._check(at)

    # How a step is made and checked

    def _side(self, number: int) -> Side:
        return self.sides[number % len(self.sides)]

    def _url(self, side: Side, page: int) -> str:
        return f"https://{side.world.catalog}.example/{page}"

    def _see(self, side: Side, page: int, gtin: int, color: str) -> None:
        stated = {"gtin": GTINS[gtin]} if gtin < len(GTINS) else {}
        facts = product(f"Thing number {page}", color=color, price="5", currency="EUR", **stated)
        side.spoken = side.spoken or f"/{page}" in str(side.world.rows("SELECT key FROM listing"))
        self._adopt_all(side, lambda: side.world.see(self.stages, facts, url=self._url(side, page)))

    def _adopt(self, side: Side, act: Callable[[], Act[Decided]]) -> None:
        """Decide and take over what came of it: the questions of identity have tests of their own."""
        decided = self.runner.run(act())
        self._take_over(side, [decided], by_source=False)

    def _adopt_all(self, side: Side, act: Callable[[], Act[Resolved]]) -> None:
        resolved = self.runner.run(act())
        self._take_over(side, resolved.decisions, by_source=True)

    def _take_over(self, side: Side, decisions: Sequence[Decided], *, by_source: bool) -> None:
        before, side.model.asserted = side.model.asserted, side.read()
        side.position += sum(len(decided.events) for decided in decisions)
        for decided in decisions:
            parts = parts_of(before, side.model.asserted)
            asserted = {ref: part for ref, part in parts.items() if ref[0] != "listing" or not by_source}
            if asserted:
                side.pasts.append(Past(decided.decision_id, asserted))
        self._check(side)

    def _expect(self, side: Side, act: Callable[[], Act[Decided]], expected: Callable[[], None]) -> None:
        """Decide, and hold what came of it to what the model says must come of it."""
        before = dict(side.model.asserted)
        decided, error = self._attempt(act)
        try:
            expected()
        except Refusal as refusal:
            assert (type(error).__name__, side.model.asserted) == (refusal.error, before)
        else:
            assert decided is not None, error
            side.position += len(decided.events)
            self._take_in_waiting(side)
            parts = parts_of(before, side.model.asserted)
            side.pasts.append(Past(decided.decision_id, parts))
        self._check(side)

    def _attempt(self, act: Callable[[], Act[Decided]]) -> tuple[Decided | None, ResolverError | None]:
        try:
            return self.runner.run(act()), None
        except ResolverError as error:
            return None, error

    def _take_in_waiting(self, side: Side) -> None:
        """Listings that had no item may have found the one that now has their key."""
        for ref, value in side.read().items():
            if ref[0] == "mapping" and ref not in side.model.asserted:
                side.model.asserted[ref] = value

    def _check(self, side: Side) -> None:
        """Assertions, roots, positions and outbox are as the model has them."""
        assert side.read() == side.model.asserted
        side.model.superseded = side.superseded()
        catalog = side.world.catalog
        rows = side.world.rows(
            "SELECT listing_id, home_item_id, item_id FROM mapping WHERE catalog_id = %s AND item_id IS NOT NULL",
            catalog,
        )
        assert [row for row in rows if side.model.root(str(row[1])) != row[2]] == []
        (counted,) = side.world.rows(
            "SELECT (SELECT position FROM cursor WHERE catalog_id = %s),"
            " (SELECT count(*) FROM outbox WHERE catalog_id = %s),"
            " (SELECT max(position) FROM change WHERE catalog_id = %s)",
            *[catalog] * 3,
        )
        assert counted == (side.position,) * 3

    def _verdict_decisions(self, side: Side) -> tuple[str, ...]:
        rows = side.world.rows(
            "SELECT decision_id FROM verdict WHERE catalog_id = %s AND withdrawn_by IS NULL", side.world.catalog
        )
        return tuple(str(row[0]) for row in rows)

    async def _open_cases(self, side: Side) -> tuple[case_view.CaseRow, ...]:
        async with self.people.transaction():
            return await case_view.list_cases(self.people, side.world.stream)

    async def _candidates(self, side: Side, row: case_view.CaseRow) -> tuple[str, ...]:
        async with self.people.transaction():
            return await case_view.candidates_of(self.people, side.world.stream, row.case_id)


@pytest.mark.timeout(0)
def test_random_histories_agree_with_the_model(resolver_template: Database) -> None:
    machine = type("CatalogsOfThisRun", (Catalogs,), {"template": resolver_template})
    chosen = settings(
        max_examples=max(1, STEPS // HISTORY),
        stateful_step_count=HISTORY,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        database=None,
        phases=PHASES,
    )
    run_state_machine_as_test(machine, settings=chosen)  # pyright: ignore[reportUnknownMemberType]  # untyped there
