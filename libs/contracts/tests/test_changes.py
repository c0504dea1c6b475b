"""Every class of change, whom it breaks, and in which order it is rolled out."""

from pathlib import Path
from typing import Any, cast

import pytest
from assay_contracts import schema
from assay_contracts.changes import Change, Contracts, Order, changes, order_of, read_contracts
from assay_contracts.schema_changes import COMPARED, SILENT

SCHEMAS = Path(schema.__file__).parent / "schemas"
OPEN: dict[str, Any] = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "string", "pattern": "^a$", "minLength": 1, "maxLength": 9},
        "n": {"type": "integer", "minimum": 0, "maximum": 9},
        "kind": {"enum": ["a", "b"]},
        "list": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 9},
        "moment": {"$ref": "#/$defs/moment"},
    },
    "$defs": {"moment": {"type": "string", "format": "date-time"}},
}
CLOSED = {**OPEN, "additionalProperties": False}
TOPIC: dict[str, Any] = {
    "name": "a.v1",
    "message": "a.v1",
    "owner": "a",
    "producers": ["p"],
    "consumers": ["c"],
    "key": "tenant",
    "partitions": 8,
    "retention_ms": 1000,
    "cleanup": "delete",
    "max_bytes": 100,
    "dead_letter": "a.v1.dlq",
}


def with_field(name: str, field: Any, root: dict[str, Any] = OPEN, *, required: bool = False) -> dict[str, Any]:
    """The schema with a field in place of, or beside, those that it has."""
    names = [*root["required"], *([name] if required else [])]
    return {**root, "properties": {**root["properties"], name: field}, "required": names}


def without(name: str, root: dict[str, Any]) -> dict[str, Any]:
    left = {one: field for one, field in root["properties"].items() if one != name}
    return {**root, "properties": left, "required": [one for one in root["required"] if one != name]}


def changed(before: dict[str, Any], after: dict[str, Any]) -> list[Change]:
    return changes(Contracts({"a.v1": before}, {}), Contracts({"a.v1": after}, {}))


ADDED = {"type": "string"}
SCHEMA_CHANGES: list[tuple[str, dict[str, Any], dict[str, Any], str, Order]] = [
    ("optional field, open", OPEN, with_field("new", ADDED), "optional field is added", "any"),
    ("optional field, closed", CLOSED, with_field("new", ADDED, CLOSED), "optional field is added", "consumers"),
    ("required field, open", OPEN, with_field("new", ADDED, required=True), "required field is added", "producers"),
    (
        "required field, closed",
        CLOSED,
        with_field("new", ADDED, CLOSED, required=True),
        "required field is added",
        "version",
    ),
    ("optional field goes, open", OPEN, without("n", OPEN), "optional field is taken away", "any"),
    ("optional field goes, closed", CLOSED, without("n", CLOSED), "optional field is taken away", "producers"),
    ("required field goes, open", OPEN, without("id", OPEN), "required field is taken away", "consumers"),
    ("required field goes, closed", CLOSED, without("id", CLOSED), "required field is taken away", "version"),
    ("field forbidden, closed", CLOSED, with_field("n", False, CLOSED), "optional field is taken away", "producers"),
    ("becomes required", OPEN, {**OPEN, "required": ["id", "n"]}, "is required now", "producers"),
    ("becomes optional", OPEN, {**OPEN, "required": []}, "may be absent now", "consumers"),
    (
        "type wider",
        OPEN,
        with_field("n", {**OPEN["properties"]["n"], "type": ["integer", "null"]}),
        "type",
        "consumers",
    ),
    ("integer to number", OPEN, with_field("n", {**OPEN["properties"]["n"], "type": "number"}), "type", "consumers"),
    ("type other", OPEN, with_field("list", {**OPEN["properties"]["list"], "type": "null"}), "type", "version"),
    ("enum value added", OPEN, with_field("kind", {"enum": ["a", "b", "c"]}), 'value "c" is added', "consumers"),
    ("enum value gone", OPEN, with_field("kind", {"enum": ["a"]}), 'value "b" is taken away', "producers"),
    ("enum to const", OPEN, with_field("kind", {"const": "a"}), 'value "b" is taken away', "producers"),
    ("enum to other const", OPEN, with_field("kind", {"const": "z"}), 'value "z" is added', "version"),
    ("enum gone", OPEN, with_field("kind", {}), "takes any value", "consumers"),
    ("enum for the first time", with_field("kind", {}), OPEN, "lists the values", "producers"),
    ("pattern other", OPEN, with_field("id", {**OPEN["properties"]["id"], "pattern": "^b$"}), "is another", "version"),
    ("pattern gone", OPEN, with_field("id", {"type": "string", "minLength": 1, "maxLength": 9}), "away", "consumers"),
    (
        "pattern added",
        with_field("n", {"type": "string"}),
        with_field("n", {"pattern": "^a$", "type": "string"}),
        "added",
        "producers",
    ),
    ("format gone", OPEN, {**OPEN, "$defs": {"moment": {"type": "string"}}}, "format is taken away", "consumers"),
    (
        "minimum up",
        OPEN,
        with_field("n", {"type": "integer", "minimum": 1, "maximum": 9}),
        "minimum 0 is 1",
        "producers",
    ),
    ("minimum down", OPEN, with_field("n", {"type": "integer", "minimum": -1, "maximum": 9}), "is -1", "consumers"),
    ("maximum down", OPEN, with_field("n", {"type": "integer", "minimum": 0, "maximum": 8}), "9 is 8", "producers"),
    ("maximum gone", OPEN, with_field("n", {"type": "integer", "minimum": 0}), "maximum 9 is none", "consumers"),
    ("maxLength down", OPEN, with_field("id", {**OPEN["properties"]["id"], "maxLength": 8}), "9 is 8", "producers"),
    ("maxItems up", OPEN, with_field("list", {**OPEN["properties"]["list"], "maxItems": 10}), "9 is 10", "consumers"),
    (
        "items unique",
        OPEN,
        with_field("list", {**OPEN["properties"]["list"], "uniqueItems": True}),
        "unique",
        "producers",
    ),
    (
        "items other",
        OPEN,
        with_field("list", {**OPEN["properties"]["list"], "items": {"type": "null"}}),
        "type",
        "version",
    ),
    (
        "items forbidden",
        OPEN,
        with_field("list", {**OPEN["properties"]["list"], "items": False}),
        "forbidden",
        "producers",
    ),
    ("closed", OPEN, CLOSED, "refused now", "producers"),
    ("opened", CLOSED, OPEN, "passed over now", "consumers"),
    ("others narrowed", OPEN, {**OPEN, "additionalProperties": {"type": "null"}}, "type any", "producers"),
    ("condition added", OPEN, {**OPEN, "allOf": [{"required": ["n"]}]}, "condition is added", "producers"),
    ("condition gone", {**OPEN, "allOf": [{"required": ["n"]}]}, OPEN, "condition is taken away", "consumers"),
    (
        "condition asks more",
        {**OPEN, "if": {"required": ["n"]}, "then": {"required": ["kind"]}},
        {**OPEN, "if": {"required": ["n"]}, "then": {"required": ["kind"], "properties": {"kind": {"const": "a"}}}},
        "asks something",
        "producers",
    ),
    (
        "condition of another",
        {**OPEN, "if": {"required": ["n"]}, "then": {"required": ["kind"]}},
        {**OPEN, "if": {"required": ["id"]}, "then": {"required": ["kind"]}},
        "condition is another",
        "version",
    ),
    ("not added", OPEN, {**OPEN, "not": {"required": ["n"]}}, "not: ", "producers"),
    (
        "not less",
        {**OPEN, "not": {"type": ["null", "string"]}},
        {**OPEN, "not": {"type": "null"}},
        "not: ",
        "consumers",
    ),
    ("word unknown to us", OPEN, {**OPEN, "dependentRequired": {}}, "not compared", "version"),
    (
        "default other",
        with_field("d", {"default": 0}),
        with_field("d", {"default": False}),
        "something else",
        "version",
    ),
    ("default added", with_field("d", {}), with_field("d", {"default": False}), "something else", "any"),
    ("other words", OPEN, {**OPEN, "description": "Other."}, "description has other words", "any"),
]


@pytest.mark.parametrize(
    ("before", "after", "text", "order"), [one[1:] for one in SCHEMA_CHANGES], ids=[one[0] for one in SCHEMA_CHANGES]
)
def test_a_change_of_a_schema(before: dict[str, Any], after: dict[str, Any], text: str, order: Order) -> None:
    found = changed(before, after)
    assert any(text in one.text for one in found), found
    assert order_of(found) == order, found
    assert any(one.breaking for one in found) == (order in ("producers", "version"))


def test_adding_an_optional_field_breaks_nobody() -> None:
    (found,) = changed(OPEN, with_field("new", ADDED))
    assert (found.producers, found.consumers, found.place) == ("none", "none", "/new")
    (found,) = changed(CLOSED, with_field("new", ADDED, CLOSED))
    assert (found.producers, found.consumers) == ("none", "first")


def test_what_only_moved_into_a_definition_has_not_changed() -> None:
    moved = {**with_field("n", {"$ref": "#/$defs/n"}), "$defs": {**OPEN["$defs"], "n": OPEN["properties"]["n"]}}
    assert changed(OPEN, moved) == []
    assert changed(OPEN, {**OPEN, "properties": dict(reversed(OPEN["properties"].items()))}) == []


def test_a_schema_that_refers_to_itself_is_compared() -> None:
    tree = with_field("inner", {"$ref": "#"})
    (found,) = changed(tree, with_field("n", {"type": "integer", "minimum": 0}, tree))
    assert found.place == "/n"


def test_a_place_says_where_in_the_document() -> None:
    deep = {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "string"}}}}
    other = {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "null"}}}}
    (found,) = changed(with_field("deep", deep), with_field("deep", other))
    assert found.place == "/deep/*/x"


@pytest.mark.parametrize(
    ("field", "value", "producers", "consumers"),
    [
        ("partitions", 9, "breaking", "breaking"),
        ("partitions", 7, "breaking", "breaking"),
        ("key", "database", "breaking", "breaking"),
        ("message", "b.v1", "breaking", "breaking"),
        ("cleanup", "compact", "breaking", "breaking"),
        ("retention_ms", 2000, "none", "none"),
        ("retention_ms", -1, "none", "none"),
        ("retention_ms", 999, "none", "first"),
        ("max_bytes", 99, "breaking", "none"),
        ("max_bytes", 101, "none", "first"),
        ("dead_letter", "b.dlq", "none", "first"),
        ("dead_letter", None, "none", "breaking"),
        ("owner", "b", "none", "none"),
        ("producers", ["p", "q"], "none", "none"),
        ("consumers", [], "none", "none"),
        ("unheard_of", 1, "breaking", "breaking"),
    ],
)
def test_a_change_of_a_topic(field: str, value: object, producers: str, consumers: str) -> None:
    before, after = ({"a.v1": one} for one in (TOPIC, {**TOPIC, field: value}))
    (found,) = changes(Contracts({}, before), Contracts({}, after))
    assert (found.contract, found.place) == ("topic a.v1", f"/{field}")
    assert (found.producers, found.consumers) == (producers, consumers)


def test_what_was_kept_for_ever_is_kept_shorter() -> None:
    (found,) = changes(Contracts({}, {"a": {"retention_ms": -1}}), Contracts({}, {"a": {"retention_ms": 9}}))
    assert found.consumers == "first"


def test_a_contract_that_is_taken_away_breaks_both_sides_and_a_new_one_nobody() -> None:
    one, none = Contracts({"a.v1": OPEN}, {"a.v1": TOPIC}), Contracts({}, {})
    assert [(each.contract, each.breaking) for each in changes(one, none)] == [
        ("schema a.v1", True),
        ("topic a.v1", True),
    ]
    assert order_of(changes(one, none)) == "version"
    assert [(each.text, each.breaking) for each in changes(none, one)] == [("is new", False), ("is new", False)]


def test_a_definition_that_is_asked_by_itself_is_compared_by_itself() -> None:
    jobs = {**OPEN["$defs"], "Job": OPEN, "PublicJob": CLOSED, "CredentialedJob": OPEN}
    whole: dict[str, Any] = {"$ref": "#/$defs/Job", "$defs": jobs}
    less = {**whole, "$defs": {**OPEN["$defs"], "Job": OPEN, "PublicJob": without("n", CLOSED)}}
    found = {one.contract for one in changes(Contracts({"job.v1": whole}, {}), Contracts({"job.v1": less}, {}))}
    assert found == {"schema job.v1#PublicJob", "schema job.v1#CredentialedJob"}


def test_what_stands_beside_a_reference_counts() -> None:
    jobs: dict[str, Any] = {"PublicJob": {"$ref": "#", "properties": {"n": False}}}
    job = {**CLOSED, "$defs": {**OPEN["$defs"], **jobs}}
    grown = with_field("new", ADDED, job)
    found = changes(Contracts({"job.v1": job}, {}), Contracts({"job.v1": grown}, {}))
    assert [(one.contract, one.place, one.consumers) for one in found] == [
        ("schema job.v1", "/new", "first"),
        ("schema job.v1#PublicJob", "/new", "first"),
    ]
    shown = {**job, "$defs": {**OPEN["$defs"], "PublicJob": {"$ref": "#"}}}
    (only,) = changes(Contracts({"job.v1": job}, {}), Contracts({"job.v1": shown}, {}))
    assert (only.contract, only.place, only.consumers) == ("schema job.v1#PublicJob", "/n", "first")
    odd = {**job, "$defs": {**OPEN["$defs"], "PublicJob": {"$ref": "#", "minProperties": 2}}}
    assert "minProperties none is 2" in [
        one.text for one in changes(Contracts({"job.v1": shown}, {}), Contracts({"job.v1": odd}, {}))
    ]


def test_a_breaking_change_is_forbidden_once_a_release_has_promised_the_contract() -> None:
    narrower = {**OPEN, "required": ["id", "n"]}
    for promised, forbidden in (([], False), (["schema b.v1"], False), (["schema a.v1"], True)):
        (found,) = changes(Contracts({"a.v1": OPEN}, {}, promised), Contracts({"a.v1": narrower}, {}, promised))
        assert (found.breaking, found.forbidden) == (True, forbidden)


def test_a_version_beside_a_promised_one_is_allowed() -> None:
    before = Contracts({"a.v1": OPEN}, {}, ["schema a.v1"])
    after = Contracts({"a.v1": OPEN, "a.v2": without("id", CLOSED)}, {}, ["schema a.v1"])
    assert [one.forbidden for one in changes(before, after)] == [False]


def test_a_promise_that_is_taken_back_is_told() -> None:
    (found,) = changes(Contracts({"a.v1": OPEN}, {}, ["schema a.v1"]), Contracts({"a.v1": OPEN}, {}))
    assert (found.text, found.forbidden) == ("is no longer promised", False)


def test_contracts_are_read_from_the_files_of_a_commit() -> None:
    files = {str(path.relative_to(SCHEMAS)): path.read_bytes() for path in SCHEMAS.rglob("*") if path.is_file()}
    found = read_contracts(files)
    assert set(found.schemas) == set(schema.SCHEMAS)
    assert found.topics["ocr.jobs"]["message"] == "ocr.job.v1"
    assert changes(found, found) == []
    assert read_contracts({"published.yaml": b"schemas: [a.v1]\ntopics: [b]"}).published == {"schema a.v1", "topic b"}


def words(node: Any) -> set[str]:
    """The words of a schema and of those inside it, without the names of fields and definitions."""
    found = set[str]()
    for word, value in cast("dict[str, Any]", node).items() if isinstance(node, dict) else ():
        inner: list[Any] = list(value.values()) if word in ("properties", "$defs") else [value]
        found |= {word}.union(*(words(one) for one in (value if word == "allOf" else inner)))
    return found


def test_every_word_of_every_schema_is_compared() -> None:
    """A word that is not compared is taken for the worst; none of ours is."""
    for name in schema.SCHEMAS:
        assert words(schema.read_schema(name)) <= COMPARED | SILENT
    assert not words({"properties": {"a": {"minContains": 1}}}) <= COMPARED | SILENT
