"""Two versions of one schema file: what a message may be now and might not before, and the other way round.

Two rules make the difference to a comparison of bare schemas. *Producers are closed*: they write the fields that their
schema names and no other, so a field that is new was in no message before. *Consumers are open* where the schema is:
they pass over fields that they do not know, unless `additionalProperties` is false.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

Node: TypeAlias = dict[str, Any] | bool

_WORDING: Final = ("title", "description", "$comment")
SILENT: Final = {*_WORDING, "$schema", "$id", "$defs", "$ref"}
"""Words that change no verdict by themselves."""
_LEAST: Final = ("minimum", "minLength", "minItems", "minProperties")
_MOST: Final = ("maximum", "maxLength", "maxItems", "maxProperties")
COMPARED: Final = {
    *_LEAST,
    *_MOST,
    *("type", "const", "enum", "pattern", "format", "uniqueItems", "properties", "required", "additionalProperties"),
    *("items", "allOf", "if", "then", "else", "not", "default"),
}
"""Words of which it is known what a change of them does; another one is taken for the worst."""


@dataclass(frozen=True)
class Difference:
    """One place where two schemas differ.

    It `widens` if producers may now write what consumers refused before, and `narrows` if consumers now refuse what
    producers might write before.
    """

    place: str
    text: str
    widens: bool = False
    narrows: bool = False


def differences(before: dict[str, Any], after: dict[str, Any], definition: str | None = None) -> list[Difference]:
    """What differs between two versions of a schema file, or between a definition that both have."""
    old, new = _At(before, before), _At(after, after)
    if definition is not None:
        old, new = _At(before["$defs"][definition], before), _At(after["$defs"][definition], after)
    return list(dict.fromkeys(_compare(old, new, "", frozenset())))


@dataclass(frozen=True)
class _At:
    """A piece of a schema, the file that its references are about, and whether it stands in a condition.

    The `properties` of a condition do not list an object's fields, they ask something of them.
    """

    node: Node
    root: dict[str, Any]
    asks: bool = False

    def resolved(self) -> "_At":
        here = self
        while isinstance(here.node, dict) and "$ref" in here.node:
            name = str(here.node["$ref"])
            target: Node = self.root if name == "#" else self.root["$defs"][name.removeprefix("#/$defs/")]
            here = _At(_with_siblings(target, here.node), self.root, self.asks)
        return here

    def words(self) -> dict[str, Any]:
        return self.node if isinstance(self.node, dict) else {}

    def inner(self, node: Node, *, asks: bool = False) -> "_At":
        return _At(node, self.root, self.asks or asks)

    def get(self, word: str) -> "_At":
        """A schema below a word; where there is none, everything is taken."""
        return self.inner(self.words().get(word, True), asks=word in ("then", "else", "not"))

    def fields(self) -> dict[str, Node]:
        """The fields that may be there; `false` forbids one."""
        listed: dict[str, Node] = self.words().get("properties", {})
        return listed if self.asks else {name: node for name, node in listed.items() if node is not False}

    def required(self) -> set[str]:
        return set(self.words().get("required", ()))

    def is_closed(self) -> bool:
        return not self.asks and self.words().get("additionalProperties") is False


def _with_siblings(target: Node, reference: dict[str, Any]) -> Node:
    """What a reference leads to, with what stands beside it: fields that it forbids, and others that it requires."""
    beside = {word: value for word, value in reference.items() if word != "$ref" and word not in _WORDING}
    if not beside or not isinstance(target, dict):
        return target
    forbids = all(node is False for node in beside.get("properties", {}).values())
    if not forbids or beside.keys() - {"properties", "required"}:
        return {**beside, "allOf": [target, *beside.get("allOf", ())]}
    return {
        **target,
        "properties": {**target.get("properties", {}), **beside.get("properties", {})},
        "required": [*target.get("required", ()), *beside.get("required", ())],
    }


def _compare(old: _At, new: _At, place: str, seen: frozenset[tuple[int, int]]) -> Iterator[Difference]:
    named = (id(old.node), id(new.node))
    old, new = old.resolved(), new.resolved()
    met = (id(old.node), id(new.node))
    if named in seen or met in seen:
        return
    if old.node is False or new.node is False:
        if old.node is not new.node:
            taken = old.node is False
            yield Difference(place, f"is {'taken' if taken else 'forbidden'} now", widens=taken, narrows=not taken)
        return
    if old.node is True and new.node is True:
        return
    seen |= {named, met}
    yield from _compare_types(old, new, place)
    yield from _compare_values(old, new, place)
    yield from _compare_texts(old, new, place)
    yield from _compare_bounds(old, new, place)
    yield from _compare_fields(old, new, place, seen)
    yield from _compare_openness(old, new, place, seen)
    yield from _compare(old.get("items"), new.get("items"), f"{place}/*", seen)
    yield from _compare_conditions(old, new, place, seen)
    yield from _compare_rest(old, new, place)


def _compare_types(old: _At, new: _At, place: str) -> Iterator[Difference]:
    before, after = _types(old), _types(new)
    if before != after:
        yield Difference(
            place,
            f"type {_listed(old.words().get('type'))} is {_listed(new.words().get('type'))}",
            widens=not after <= before,
            narrows=not before <= after,
        )


def _types(at: _At) -> set[str]:
    """Every number that is no integer has a name of its own here."""
    named = at.words().get("type", ["object", "array", "string", "boolean", "null", "number"])
    types = {named} if isinstance(named, str) else set(cast("list[str]", named))
    return types | {"integer"} if "number" in types else types


def _listed(named: object) -> str:
    return "any" if named is None else json.dumps(named)


def _compare_values(old: _At, new: _At, place: str) -> Iterator[Difference]:
    before, after = _values(old), _values(new)
    if before == after:
        return
    if before is None or after is None:
        text = "lists the values that are taken" if before is None else "takes any value instead of those listed"
        yield Difference(place, text, widens=after is None, narrows=before is None)
        return
    for value in sorted(after - before):
        yield Difference(place, f"value {value} is added", widens=True)
    for value in sorted(before - after):
        yield Difference(place, f"value {value} is taken away", narrows=True)


def _values(at: _At) -> set[str] | None:
    words = at.words()
    if "const" in words:
        return {json.dumps(words["const"])}
    return {json.dumps(value) for value in words["enum"]} if "enum" in words else None


def _compare_texts(old: _At, new: _At, place: str) -> Iterator[Difference]:
    for word in ("pattern", "format", "uniqueItems"):
        before, after = old.words().get(word) or None, new.words().get(word) or None
        if before != after:
            change = "is added" if before is None else "is taken away" if after is None else "is another"
            yield Difference(place, f"{word} {change}", widens=before is not None, narrows=after is not None)


def _compare_bounds(old: _At, new: _At, place: str) -> Iterator[Difference]:
    for word, sign in (*((word, 1) for word in _LEAST), *((word, -1) for word in _MOST)):
        before, after = old.words().get(word), new.words().get(word)
        if before != after:
            narrower = after is not None and (before is None or sign * after > sign * before)
            text = f"{word} {'none' if before is None else before} is {'none' if after is None else after}"
            yield Difference(place, text, widens=not narrower, narrows=narrower)


def _compare_fields(old: _At, new: _At, place: str, seen: frozenset[tuple[int, int]]) -> Iterator[Difference]:
    before, after = old.fields(), new.fields()
    for name in after.keys() - before.keys():
        yield _added(old, new, name, f"{place}/{name}")
    for name in before.keys() - after.keys():
        yield _removed(old, new, name, f"{place}/{name}")
    for name in before.keys() & after.keys():
        yield from _compare(old.inner(before[name]), new.inner(after[name]), f"{place}/{name}", seen)
    both = (before.keys() & after.keys()) | (old.required() | new.required()) - before.keys() - after.keys()
    for name in (new.required() - old.required()) & both:
        yield Difference(f"{place}/{name}", "is required now", narrows=True)
    for name in (old.required() - new.required()) & both:
        yield Difference(f"{place}/{name}", "may be absent now", widens=True)


def _added(old: _At, new: _At, name: str, place: str) -> Difference:
    if new.asks:
        return Difference(place, "a condition asks something of it", narrows=True)
    required = name in new.required()
    text = f"{'required' if required else 'optional'} field is added"
    return Difference(place, text, widens=old.is_closed(), narrows=required and name not in old.required())


def _removed(old: _At, new: _At, name: str, place: str) -> Difference:
    if new.asks:
        return Difference(place, "a condition asks nothing of it any more", widens=True)
    required = name in old.required()
    text = f"{'required' if required else 'optional'} field is taken away"
    return Difference(place, text, widens=required and name not in new.required(), narrows=new.is_closed())


def _compare_openness(old: _At, new: _At, place: str, seen: frozenset[tuple[int, int]]) -> Iterator[Difference]:
    before, after = (at.words().get("additionalProperties", True) for at in (old, new))
    if after is False or before is False:
        if before is after:
            return
        text = "fields that it does not name are " + ("refused now" if after is False else "passed over now")
        yield Difference(place, text, widens=before is False, narrows=after is False)
        return
    yield from _compare(old.inner(before), new.inner(after), f"{place}/*", seen)


def _compare_conditions(old: _At, new: _At, place: str, seen: frozenset[tuple[int, int]]) -> Iterator[Difference]:
    before, after = _alternatives(old), _alternatives(new)
    kept = min(len(before), len(after))
    for one, other in zip(before[:kept], after[:kept], strict=True):
        yield from _compare(one, other, place, seen)
    yield from (Difference(place, "a condition is added", narrows=True) for _ in after[kept:])
    yield from (Difference(place, "a condition is taken away", widens=True) for _ in before[kept:])
    if old.words().get("if") != new.words().get("if"):
        yield Difference(place, "a condition is another", widens=True, narrows=True)
    else:
        yield from _compare(old.get("then"), new.get("then"), place, seen)
        yield from _compare(old.get("else"), new.get("else"), place, seen)
    if "not" in old.words() or "not" in new.words():
        inner = _compare(_negated(old), _negated(new), place, seen)
        yield from (Difference(one.place, f"not: {one.text}", one.narrows, one.widens) for one in inner)


def _alternatives(at: _At) -> list[_At]:
    return [at.inner(node, asks=True) for node in at.words().get("allOf", ())]


def _negated(at: _At) -> _At:
    """What may not be; nothing where nothing is said."""
    return at.inner(at.words().get("not", False), asks=True)


def _compare_rest(old: _At, new: _At, place: str) -> Iterator[Difference]:
    for word in _WORDING:
        if not old.asks and old.words().get(word) != new.words().get(word):
            yield Difference(place, f"{word} has other words")
    defaults = [at.words()["default"] for at in (old, new) if "default" in at.words()]
    if json.dumps(defaults[:1]) != json.dumps(defaults[1:]) and defaults:
        another = len(defaults) == 2
        yield Difference(place, "an absent field means something else", widens=another, narrows=another)
    for word in sorted(_strange(old.words(), new.words())):
        if old.words().get(word) != new.words().get(word):
            yield Difference(place, f"{word}, which is not compared, is another", widens=True, narrows=True)


def _strange(*both: Iterable[str]) -> set[str]:
    return {word for words in both for word in words} - COMPARED - SILENT
