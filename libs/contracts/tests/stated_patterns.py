"""Every field that has a pattern, of every message: what its pattern takes and many readers would take beyond it.

Only the places are drawn from the schemas. The verdict is the same for all of them: a newline at the end, and a digit
beyond ASCII, are refused as `wrong_pattern`, unless the pattern says nothing of the end, or allows any letter.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from assay_contracts import schema
from assay_contracts.decoder import DOCUMENTS
from assay_contracts.topics import TOPICS

from .stating import CARRIERS, Stated, changed, documents

ANY_LETTER: Final = r"^https?://[^\x00-\x20]+$"
"""A URL may hold letters of any script, digits among them."""
_DIGIT: Final = re.compile("[0-9]")


def stated_patterns() -> Iterator[Stated]:
    """A newline after, and a full-width digit in, one value of every field that has a pattern."""
    for carrier in CARRIERS:
        for pointer, (document, pattern, value) in sorted(values(carrier).items()):
            name = pointer.strip("/").replace("/", ".")
            longer = changed(document, pointer, f"{value}\n")
            if pattern.endswith("$"):
                yield Stated(f"newline_after_{name}", carrier, longer, "wrong_pattern", pointer)
            else:
                yield Stated(f"newline_after_{name}", carrier, longer)
            digit = _DIGIT.search(value)
            if digit and pattern.endswith("$") and pattern != ANY_LETTER:
                wide = value[: digit.start()] + chr(ord(digit[0]) + 0xFEE0) + value[digit.end() :]
                yield Stated(
                    f"full_width_digit_in_{name}", carrier, changed(document, pointer, wide), "wrong_pattern", pointer
                )


def values(carrier: str) -> dict[str, tuple[Any, str, str]]:
    """By pointer: an example with a value of each place that has a pattern, the pattern, and the value.

    Places that differ only in the number of an item are one.
    """
    found: dict[str, tuple[Any, str, str]] = {}
    seen: set[tuple[str, str]] = set()
    for _, document in documents(carrier):
        for pointer, pattern, value in _patterned(carrier, document):
            place = re.sub(r"/[0-9]+(?=/|$)", "/*", pointer)
            if (place, pattern) not in seen and pointer not in found:
                seen.add((place, pattern))
                found[pointer] = (document, pattern, value)
    return found


def patterns(name: str) -> set[str]:
    """Every pattern that a schema states, wherever it does."""
    return set(_all_patterns(schema.read_schema(name)))


def _patterned(carrier: str, document: Any) -> Iterator[tuple[str, str, str]]:
    if carrier in DOCUMENTS:
        root = schema.read_schema(carrier)
        yield from _walk(root, root, document, "")
        return
    outer, inner = schema.read_schema("envelope.v1"), schema.read_schema(str(TOPICS[carrier].message))
    yield from _walk(outer, outer, document, "")
    yield from _walk(inner, inner, document["payload"], "/payload")


def _walk(root: Any, node: Any, value: Any, pointer: str) -> Iterator[tuple[str, str, str]]:
    """Every text in the document of which the schema, or a branch of it that the text fits, asks a pattern."""
    if isinstance(node, bool):
        return
    if "$ref" in node:
        yield from _walk(root, _resolve(root, node["$ref"]), value, pointer)
    if isinstance(value, str) and "pattern" in node and re.search(node["pattern"], value, re.ASCII):
        yield pointer, node["pattern"], value
    for branch in (*node.get("allOf", ()), *(node[word] for word in ("then", "else") if word in node)):
        yield from _walk(root, branch, value, pointer)
    if isinstance(value, dict):
        for key, inner in node.get("properties", {}).items():
            if key in value:
                yield from _walk(root, inner, value[key], f"{pointer}/{key}")
    if isinstance(value, list):
        for n, item in enumerate(value):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  any JSON
            yield from _walk(root, node.get("items", True), item, f"{pointer}/{n}")


def _resolve(root: Any, reference: str) -> Any:
    return root if reference == "#" else root["$defs"][reference.removeprefix("#/$defs/")]


def _all_patterns(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, inner in node.items():  # pyright: ignore[reportUnknownVariableType]  any JSON
            if key == "pattern" and isinstance(inner, str):
                yield inner
            yield from _all_patterns(inner)
    elif isinstance(node, list):
        for inner in node:  # pyright: ignore[reportUnknownVariableType]  any JSON
            yield from _all_patterns(inner)
