"""The model: settling an item or a listing anew changes nothing, and a listing is found by its reading's keys."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from assay_resolver.identity import Key, heard, keys_of
from assay_resolver.reading import Evidence, Fact, Listing, Reading
from assay_resolver.settle import Slot, Wanted, same_result, settle_item, settle_listing
from assay_runtime import sql
from psycopg.rows import TupleRow

from assay_cli.check.sources import Connection, Sources, pages, stream
from assay_cli.check.violations import Violation, found

_SQL: Final = sql.load("assay_cli", "check_settled")
_AT_ONCE: Final = 200
_ANY_PLACE: Final = Evidence("", "", "", "", "", "", "", "", "", "")
"""Where a fact was read plays no part in settling."""

Standing = Mapping[Slot, tuple[str, str]]
"""What is accepted of one owner: (value, by) of each attribute that is not cleared."""


def check_settled(sources: Sources) -> Iterator[Violation]:
    """Settle everything again, some hundred owners at a time."""
    return settle_again(sources.resolver)


def settle_again(resolver: Connection) -> Iterator[Violation]:
    """Whatever settling a resolver database anew would change."""
    for tenant_id, catalog_id in resolver.execute(_SQL["list_catalogs"]).fetchall():
        scope = {"tenant_id": tenant_id, "catalog_id": catalog_id}
        for page in pages(stream(resolver, _SQL["list_items"], scope), _AT_ONCE):
            yield from _check_items(resolver, scope, [row[0] for row in page])
        for page in pages(stream(resolver, _SQL["list_listings"], scope), _AT_ONCE):
            yield from _check_listings(resolver, scope, [row[0] for row in page])


def _check_items(resolver: Connection, scope: Mapping[str, object], items: list[str]) -> Iterator[Violation]:
    wanted = {**scope, "owners": items}
    members: dict[str, list[Listing]] = {item: [] for item in items}
    for listing in _listings(resolver, scope, resolver.execute(_SQL["listings_of_items"], wanted).fetchall()):
        members[str(listing.item_id)].append(listing)
    pins: dict[str, dict[str, Fact]] = {item: {} for item in items}
    for item, name, *fact in resolver.execute(_SQL["pins_of_items"], wanted):
        pins[item][name] = _fact(fact)
    standing = _standing(resolver, wanted)
    for item in items:
        accepted = {name: value for (name, _), (value, _) in standing.get(item, {}).items()}
        settled = settle_item(members[item], pins[item], accepted)
        yield from _differing(scope, item, standing.get(item, {}), settled)


def _check_listings(resolver: Connection, scope: Mapping[str, object], ids: list[str]) -> Iterator[Violation]:
    wanted = {**scope, "owners": ids}
    standing, keys = _standing(resolver, wanted), _keys(resolver, wanted)
    for listing in _listings(resolver, scope, resolver.execute(_SQL["find_listings"], wanted).fetchall()):
        owner = listing.listing_id
        yield from _differing(scope, owner, standing.get(owner, {}), settle_listing(listing))
        if set(keys_of(listing.reading)) != keys.get(owner, set()):
            yield found("model_listing_key_differs", f"{_name(scope)} {owner}")


def _differing(
    scope: Mapping[str, object], owner: str, standing: Standing, settled: Mapping[Slot, Wanted]
) -> Iterator[Violation]:
    for slot in sorted(standing.keys() | settled.keys()):
        if slot not in settled or not same_result(standing.get(slot), settled[slot]):
            yield found("model_settle_differs", f"{_name(scope)} {owner}/{'/'.join(part for part in slot if part)}")


def _standing(resolver: Connection, wanted: Mapping[str, object]) -> dict[str, dict[Slot, tuple[str, str]]]:
    standing: dict[str, dict[Slot, tuple[str, str]]] = {}
    for owner, name, line, value, by in resolver.execute(_SQL["attributes_of"], wanted):
        standing.setdefault(owner, {})[name, line] = (value, by)
    return standing


def _keys(resolver: Connection, wanted: Mapping[str, object]) -> dict[str, set[Key]]:
    keys: dict[str, set[Key]] = {}
    for listing, kind, value in resolver.execute(_SQL["keys_of_listings"], wanted):
        keys.setdefault(listing, set()).add(Key(kind, value))
    return keys


def _listings(resolver: Connection, scope: Mapping[str, object], rows: list[TupleRow]) -> Iterator[Listing]:
    """Listings with the readings by which they speak, as heard; a row is a listing's columns, then its reading's."""
    facts: dict[str, list[Fact]] = {}
    wanted = {**scope, "readings": [row[9] for row in rows]}
    for fact in resolver.execute(_SQL["facts_of_readings"], wanted):
        facts.setdefault(fact[0], []).append(_fact(fact))
    for row in rows:
        *listing, item_id, wrong, reading_id = row[:10]
        reading = Reading(reading_id, *row[10:], facts=tuple(facts.get(reading_id, ())))
        yield Listing(*listing, reading=heard(reading, [Key.named(name) for name in wrong]), item_id=item_id)


def _fact(row: Iterable[object]) -> Fact:
    reading_id, n, name, line, value = row
    return Fact(str(reading_id), int(str(n)), str(name), str(line), str(value), _ANY_PLACE)


def _name(scope: Mapping[str, object]) -> str:
    return f"{scope['tenant_id']}/{scope['catalog_id']}"
