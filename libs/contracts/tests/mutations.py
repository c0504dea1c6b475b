"""One step away from an example: what a property test compares two judges on."""

import copy
from typing import Any, cast

from hypothesis import strategies as st

Place = tuple[Any, Any]
"""A container of a document, and a key or an index in it."""

STRANGE: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2.0,
    1.5,
    2**31 - 1,
    2**31,
    2**53 - 1,
    2**53,
    2**63,
    253_402_300_800,
    599,
    600,
    "",
    "0",
    "1",
    "-0",
    "0.5",
    "1.50",
    "EUR",
    "eur",
    "item",
    "listing",
    "mapping",
    "description",
    "text",
    "offer",
    "2026-05-19",
    "2026-02-30",
    "2026-05-19T07:23:20Z",
    "2016-12-31T23:59:60Z",
    "https://shop.example/",
    "item_a",
    "lst_a",
    "lst_a/offer",
    [],
    {},
    [{}],
]
ENDS = ["\n", " ", "a", "0", "/", "\u0661", "\uff11", "\u2028", "\x00"]
LENGTHS = [
    20,
    21,
    35,
    36,
    40,
    41,
    60,
    61,
    64,
    65,
    100,
    101,
    200,
    201,
    500,
    501,
    1000,
    1001,
    2000,
    2001,
    2048,
    2049,
    20_001,
]


def places(document: Any) -> list[Place]:
    """Every place of a document where something can be changed."""
    found: list[Place] = []
    for key in _keys(document):
        found.append((document, key))
        found.extend(places(document[key]))
    return found


def _keys(document: Any) -> list[Any]:
    if isinstance(document, dict):
        return list(cast("dict[Any, Any]", document))
    return list(range(len(cast("list[Any]", document)))) if isinstance(document, list) else []


@st.composite
def mutated(draw: st.DrawFn, documents: st.SearchStrategy[Any], steps: int = 2) -> Any:
    """A document with at most so many of its values, keys or lengths changed."""
    document = copy.deepcopy(draw(documents))
    for _ in range(draw(st.integers(0, steps))):
        found = places(document)
        if found:
            _change(draw, *draw(st.sampled_from(found)))
    return document


@st.composite
def changed_once(draw: st.DrawFn, original: Any) -> Any:
    """A document of which one value, key or length is another."""
    document = copy.deepcopy(original)
    found = places(document)
    if found:
        _change(draw, *draw(st.sampled_from(found)))
    return document


def _change(draw: st.DrawFn, container: Any, key: Any) -> None:
    value = container[key]
    act = draw(st.sampled_from(["replace", "drop", "add", "stretch", "repeat", "end"]))
    if act == "replace":
        container[key] = copy.deepcopy(draw(st.sampled_from(STRANGE)))
    elif act == "drop":
        del container[key]
    elif act == "add" and isinstance(value, dict):
        value[draw(st.sampled_from(["extra", "type", "ref", "data", "url", "key"]))] = draw(st.sampled_from(STRANGE))
    elif act == "stretch" and isinstance(value, str) and value:
        length = draw(st.sampled_from(LENGTHS))
        container[key] = value[:length].ljust(length, value[-1])
    elif act == "repeat" and isinstance(value, list) and value:
        first = cast("list[Any]", value)[0]
        container[key] = [copy.deepcopy(first) for _ in range(draw(st.sampled_from([2, 20, 21, 50, 51])))]
    elif act == "end" and isinstance(value, str):
        container[key] = draw(st.sampled_from([value + end for end in ENDS] + [value[:-1], value[1:], value.upper()]))
