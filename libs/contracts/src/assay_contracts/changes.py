"""Two states of all contracts: each change, whom it breaks, and who is rolled out first."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final, Literal, TypeAlias, cast

import orjson
import yaml

from assay_contracts.schema import PARTS
from assay_contracts.schema_changes import Difference, differences

Effect: TypeAlias = Literal["none", "first", "breaking"]
"""What a change is to one side: nothing; a reason to get the new version before the other side does; its end."""

RULES: Final = (
    "Producers are closed: they write the fields of their schema and no other.",
    "Consumers are open where the schema is: they pass over fields that they do not know.",
)
ORDERS: Final = {
    "any": "in any order",
    "consumers": "consumers first, then producers",
    "producers": "producers first; consumers when topic, dead letters and history hold no message of the old kind",
    "version": "no order works: leave this version as it was and add the next one, with a topic of its own",
}
Order: TypeAlias = Literal["any", "consumers", "producers", "version"]


@dataclass(frozen=True)
class Contracts:
    """Schemas and topics by name, as the files of one commit have them.

    `published` names what a release has promised, each as `schema NAME` or `topic NAME`.
    """

    schemas: Mapping[str, dict[str, Any]]
    topics: Mapping[str, Mapping[str, Any]]
    published: Collection[str] = ()


def read_contracts(files: Mapping[str, bytes]) -> Contracts:
    """The contracts of the files of one commit, named by their paths below `schemas`."""
    paths = {PurePosixPath(name): data for name, data in files.items()}
    promised: dict[str, list[str]] = yaml.safe_load(files.get("published.yaml", b"{}"))
    return Contracts(
        {
            path.name.removesuffix(".schema.json"): orjson.loads(data)
            for path, data in paths.items()
            if path.name.endswith(".schema.json") and len(path.parts) == 1
        },
        {
            path.stem: yaml.safe_load(data)
            for path, data in paths.items()
            if path.suffix == ".yaml" and path.parts[:-1] == ("topics",)
        },
        {f"{kind.removesuffix('s')} {name}" for kind, names in promised.items() for name in names},
    )


@dataclass(frozen=True)
class Change:
    """One change of one contract; `place` is a JSON pointer in which `*` is any item."""

    contract: str
    place: str
    text: str
    producers: Effect = "none"
    consumers: Effect = "none"
    published: bool = False

    @property
    def breaking(self) -> bool:
        """Whether a side cannot go on, whatever the order."""
        return "breaking" in (self.producers, self.consumers)

    @property
    def forbidden(self) -> bool:
        """Whether it breaks what a release has promised."""
        return self.breaking and self.published


def changes(before: Contracts, after: Contracts) -> list[Change]:
    """Every change from one state to the next; what was published before counts as promised."""
    found = [*_schemas(before, after), *_topics(before, after), *_promises(before, after)]
    return sorted(found, key=lambda change: (change.contract, change.place, change.text))


def order_of(found: Iterable[Change]) -> Order:
    """Who gets the new version first, so that all of these changes reach a running installation."""
    listed = list(found)
    if any(change.consumers == "breaking" for change in listed):
        return "version"
    narrowed = any(change.producers == "breaking" for change in listed)
    widened = any(change.consumers == "first" for change in listed)
    if narrowed:
        return "version" if widened else "producers"
    return "consumers" if widened else "any"


def _schemas(before: Contracts, after: Contracts) -> Iterator[Change]:
    yield from _comings_and_goings("schema", before.schemas, after.schemas, before.published)
    for name in before.schemas.keys() & after.schemas.keys():
        old, new, promised = before.schemas[name], after.schemas[name], f"schema {name}" in before.published
        yield from (_change(f"schema {name}", one, promised) for one in differences(old, new))
        for part in _parts(name):
            yield from _part_changes(f"schema {name}#{part}", part, old, new, promised)


def _comings_and_goings(
    kind: str, before: Mapping[str, object], after: Mapping[str, object], published: Collection[str]
) -> Iterator[Change]:
    for name in after.keys() - before.keys():
        yield Change(f"{kind} {name}", "", "is new")
    for name in before.keys() - after.keys():
        yield Change(f"{kind} {name}", "", "is taken away", "breaking", "breaking", f"{kind} {name}" in published)


def _parts(name: str) -> list[str]:
    return [part.partition("#")[2] for part in PARTS if part.startswith(f"{name}#")]


def _part_changes(name: str, part: str, old: dict[str, Any], new: dict[str, Any], published: bool) -> Iterator[Change]:
    had, has = (part in schema.get("$defs", {}) for schema in (old, new))
    if had and has:
        yield from (_change(name, one, published) for one in differences(old, new, part))
    elif had:
        yield Change(name, "", "is taken away", "breaking", "breaking", published)
    elif has:
        yield Change(name, "", "is new")


def _change(contract: str, difference: Difference, published: bool) -> Change:
    producers: Effect = "breaking" if difference.narrows else "none"
    consumers: Effect = "first" if difference.widens else "none"
    return Change(contract, difference.place, difference.text, producers, consumers, published)


def _topics(before: Contracts, after: Contracts) -> Iterator[Change]:
    yield from _comings_and_goings("topic", before.topics, after.topics, before.published)
    for name in before.topics.keys() & after.topics.keys():
        yield from _compare_topics(name, before.topics[name], after.topics[name], f"topic {name}" in before.published)


def _compare_topics(name: str, old: Mapping[str, Any], new: Mapping[str, Any], published: bool) -> Iterator[Change]:
    for field in sorted(old.keys() | new.keys()):
        before, after = old.get(field), new.get(field)
        if before != after:
            producers, consumers = _topic_effects(field, before, after)
            text = f"{field} {_words(before)} is {_words(after)}{_REASONS.get(field, '')}"
            yield Change(f"topic {name}", f"/{field}", text, producers, consumers, published)


_REASONS: Final = {
    "partitions": ": final, since tenants would move to other partitions",
    "key": ": final, since messages would move to other partitions",
    "message": ": another message has a topic of its own",
    "cleanup": ": messages that a consumer counts on would go, or stay",
}


def _topic_effects(field: str, before: Any, after: Any) -> tuple[Effect, Effect]:
    match field:
        case "owner" | "producers" | "consumers":
            return "none", "none"
        case "max_bytes":
            return ("none", "first") if after > before else ("breaking", "none")
        case "retention_ms":
            return "none", "none" if _is_longer(before, after) else "first"
        case "dead_letter":
            return "none", "first" if after else "breaking"
        case _:
            return "breaking", "breaking"


def _is_longer(before: int, after: int) -> bool:
    """-1 keeps for ever."""
    return after == -1 or (before != -1 and after > before)


def _words(value: object) -> str:
    return "none" if value is None else ", ".join(cast("list[str]", value)) if isinstance(value, list) else str(value)


def _promises(before: Contracts, after: Contracts) -> Iterator[Change]:
    """A promise is taken back in sight of everybody, and what it was about may change in a later commit."""
    for name in set(before.published) - set(after.published):
        yield Change(name, "", "is no longer promised")
    for name in set(after.published) - set(before.published):
        yield Change(name, "", "is promised from now on")
