"""Schema files: listed, valid, portable."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from assay_contracts import schema
from assay_contracts.errors import UnknownContract
from jsonschema import Draft202012Validator

SCHEMAS = Path(schema.__file__).parent / "schemas"
NOT_PORTABLE = re.compile(r"\\[^.x\\/\[\]+*?()^$|-]|(?<!\\)\.(?![^\[]*\])|\(\?(?!:)")


def keywords(node: object) -> Iterator[tuple[str, Any]]:
    """Every key and value of a schema, at any depth."""
    if isinstance(node, dict):
        for key, value in node.items():  # pyright: ignore[reportUnknownVariableType]  any JSON
            yield str(key), value  # pyright: ignore[reportUnknownArgumentType]  any JSON
            yield from keywords(value)  # pyright: ignore[reportUnknownArgumentType]  any JSON
    elif isinstance(node, list):
        for value in node:  # pyright: ignore[reportUnknownVariableType]  any JSON
            yield from keywords(value)  # pyright: ignore[reportUnknownArgumentType]  any JSON


def unlisted(folder: Path) -> set[str]:
    """Schema files that no list names, and listed names that have no file."""
    return {path.name.removesuffix(".schema.json") for path in folder.glob("*.schema.json")} ^ set(schema.SCHEMAS)


def test_every_schema_file_is_listed() -> None:
    assert unlisted(SCHEMAS) == set()


def test_a_schema_file_that_nobody_lists_is_found(tmp_path: Path) -> None:
    for name in (*schema.SCHEMAS[1:], "orphan.v1"):
        (tmp_path / f"{name}.schema.json").write_text("{}")
    assert unlisted(tmp_path) == {"orphan.v1", schema.SCHEMAS[0]}


@pytest.mark.parametrize("name", schema.SCHEMAS)
def test_schema_is_valid_and_named_after_its_file(name: str) -> None:
    document = schema.read_schema(name)
    Draft202012Validator.check_schema(document)
    message, version = name.rsplit(".", 1)
    assert document["$id"] == f"urn:assay:schema:{message}:{version}"
    assert document["description"]


@pytest.mark.parametrize("name", schema.SCHEMAS)
def test_schema_keeps_to_words_with_one_meaning(name: str) -> None:
    for key, value in keywords(schema.read_schema(name)):
        assert key not in {"anyOf", "oneOf", "patternProperties", "propertyNames"}
        if key == "pattern" and isinstance(value, str):
            assert value.startswith("^"), value
            assert not NOT_PORTABLE.search(value), value


@pytest.mark.parametrize("pattern", [r"^\d+$", r"^a.b$", r"^(?=a)$", r"^\w$", r"^a\s$"])
def test_a_pattern_that_languages_read_differently_is_found(pattern: str) -> None:
    assert NOT_PORTABLE.search(pattern)


def test_an_unknown_schema_has_no_file() -> None:
    with pytest.raises(UnknownContract):
        schema.read_schema("../topics")
