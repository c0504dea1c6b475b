"""The generated documents: AsyncAPI by its official schema and with our verdicts, and a page without a dead end."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from assay_contracts import schema
from assay_contracts.asyncapi import asyncapi, asyncapi_bytes
from assay_contracts.errors import InvalidMessage
from assay_contracts.phrases import conditions_of, kind_of, rules_of
from assay_contracts.reference import reference
from assay_contracts.topics import TOPICS
from jsonschema import Draft7Validator, Draft202012Validator

from .test_models import examples

OFFICIAL = Path(__file__).parent / "asyncapi" / "3.0.0.json.gz"
DOCUMENT: dict[str, Any] = json.loads(asyncapi_bytes())
PAGE = reference()


def faults(document: Any) -> list[str]:
    """What the official schema of AsyncAPI 3.0 objects to."""
    judge = Draft7Validator(json.loads(gzip.decompress(OFFICIAL.read_bytes())))
    return [error.message for error in judge.iter_errors(document)]  # pyright: ignore[reportUnknownMemberType]  untyped


def test_the_document_is_asyncapi() -> None:
    assert faults(DOCUMENT) == []


@pytest.mark.parametrize(
    "broken",
    [
        {"asyncapi": "2.6.0"},
        {"channels": {"a": {"address": 1}}},
        {"operations": {"a": {"action": "publish", "channel": {"$ref": "#/channels/ocr.jobs"}}}},
        {"info": {"title": "Assay"}},
    ],
    ids=str,
)
def test_a_document_that_is_not_asyncapi_is_found(broken: dict[str, Any]) -> None:
    assert faults({**DOCUMENT, **broken}) != []


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in cast("dict[str, Any]", node).items():
            if key == "$ref" and isinstance(value, str):
                yield value
            yield from references(value)
    elif isinstance(node, list):
        for value in cast("list[Any]", node):
            yield from references(value)


def at(reference_: str) -> Any:
    here: Any = DOCUMENT
    for part in reference_.removeprefix("#/").split("/"):
        here = here[part]
    return here


def test_every_reference_leads_to_something_of_the_document() -> None:
    found = set(references(DOCUMENT))
    assert len(found) > 90
    assert all(at(one) is not None for one in found)


def test_every_topic_is_a_channel_with_its_operations() -> None:
    assert set(DOCUMENT["channels"]) == {*TOPICS, "pulse.worker.v1"}
    for topic in TOPICS.values():
        bound = DOCUMENT["channels"][topic.name]["bindings"]["kafka"]
        assert (bound["partitions"], bound["topicConfiguration"]["max.message.bytes"]) == (
            topic.partitions,
            topic.max_bytes,
        )
        for action, processes in (("send", topic.producers), ("receive", topic.consumers)):
            told = [
                one["x-process"]
                for one in DOCUMENT["operations"].values()
                if one["action"] == action and one["channel"]["$ref"] == f"#/channels/{topic.name}"
            ]
            assert told == list(processes)


def takes(judge: dict[str, Any], document: Any) -> bool:
    return Draft202012Validator(judge).is_valid(document)  # pyright: ignore[reportUnknownMemberType]  untyped


def schema_takes(name: str, document: Any) -> bool:
    try:
        schema.check(name, document)
    except InvalidMessage:
        return False
    return True


@pytest.mark.parametrize("name", [*schema.SCHEMAS, *schema.PARTS])
def test_a_component_gives_the_verdict_of_its_schema(name: str) -> None:
    """But for `2.0` as an integer, the end of a pattern and formats, on which `jsonschema` alone is less strict."""
    component = {"$ref": f"#/components/schemas/{name.replace('#', '.')}", "components": DOCUMENT["components"]}
    ours = schema.read_schema(name)
    for document in examples(name):
        given = takes(component, document)
        assert given == takes(ours, document), document
        assert given or not schema_takes(name, document)


def test_an_example_in_the_document_is_a_message() -> None:
    for topic in TOPICS.values():
        if topic.message is None:
            continue
        (example,) = DOCUMENT["components"]["messages"][topic.name]["examples"]
        value = {"$ref": f"#/components/schemas/kafka.{topic.name}", "components": DOCUMENT["components"]}
        assert takes(value, example["payload"])
        assert not takes(value, {**example["payload"], "payload": {}, "clock": -1})


def test_equal_files_make_equal_documents() -> None:
    assert asyncapi() == DOCUMENT
    assert asyncapi_bytes() == asyncapi_bytes()
    assert reference() == PAGE


def test_the_page_has_every_topic_schema_definition_and_field() -> None:
    for name in schema.SCHEMAS:
        document = schema.read_schema(name)
        assert f"\n## {name}\n" in PAGE
        for definition, inner in document.get("$defs", {}).items():
            assert f"\n### {definition} of {name}\n" in PAGE
            assert all(f"| `{field}` |" in PAGE for field in inner.get("properties", {}))
        assert all(f"| `{field}` |" in PAGE for field in document["properties"])
    assert all(f"| `{name}` |" in PAGE for name in TOPICS)


def test_every_link_of_the_page_leads_to_one_heading() -> None:
    headings = re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)
    anchors = [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]
    assert len(set(anchors)) == len(anchors)
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= set(anchors)


def test_every_table_of_the_page_has_rows_of_one_width() -> None:
    for table in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table


def link(name: str) -> str:
    return f"<{name}>"


def test_a_schema_in_words() -> None:
    assert kind_of({"type": ["array", "null"], "items": {"$ref": "#/$defs/a"}}, link) == "array of <a> or null"
    assert kind_of({"enum": ["a", None, 1]}, link) == "`a` · `null` · `1`"
    assert kind_of(True, link) == "anything"
    assert rules_of({"minLength": 1, "maxLength": 9, "pattern": "^a|b$"}) == ["1 to 9 characters", "`^a\\|b$`"]
    assert rules_of({"minItems": 1, "uniqueItems": True}) == ["not empty", "no item twice"]
    assert rules_of({"maximum": 9, "default": 0}) == ["at most 9", "absent means `0`"]


def test_conditions_in_words() -> None:
    when = {"properties": {"a": {"const": 1}}, "required": ["a"]}
    inner = {"properties": {"f": {"const": 2}}}
    then = {"required": ["b"], "properties": {"c": {"maxLength": 3}, "d": False, "e": inner}}
    assert conditions_of({"if": when, "then": then}, link) == [
        "When `a` is `1`, `b` is there and `c` is at most 3 characters, if it is there"
        " and `d` is absent and `e.f` is `2`."
    ]
    assert conditions_of({"if": {"not": when}, "then": {"$ref": "#/$defs/x"}}, link) == [
        "Unless `a` is `1`, it is <x>."
    ]
    chain = {"if": when, "then": {"required": ["b"]}, "else": {"if": {"required": ["c"]}, "then": {"required": ["d"]}}}
    assert conditions_of(chain, link) == ["When `a` is `1`, `b` is there.", "When `c` is there, `d` is there."]
