"""The page on which people look up topics and messages, made of the schema and topic files and of nothing else."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay_contracts.decoder import DOCUMENTS
from assay_contracts.phrases import Link, Schema, asked, conditions_of, kind_of, rules_of
from assay_contracts.schema import SCHEMAS, read_schema
from assay_contracts.topics import TOPICS, Topic
from assay_contracts.usage import usage_of

_DAY_MS: Final = 86_400_000
_HEAD: Final = """# Messages and topics

Made from [schemas](../../schemas/README.md) by `make reference`; that page says how a document is read and how a schema
changes. The topics are also an [AsyncAPI 3 document](asyncapi.json). `assay contracts decode` says what a message is,
or why it is none.
"""


def reference() -> str:
    """The whole page; equal for equal files."""
    sections = [_HEAD, _topics(), *(_schema(name) for name in SCHEMAS)]
    return "\n".join(sections)


def _topics() -> str:
    rows = [_topic(topic) for topic in TOPICS.values()]
    names = ("topic", "message", "key", "partitions", "kept", "bytes", "from", "to", "refused messages")
    return "\n".join(["## Topics", "", _row(names), _row(["-"] * len(names)), *map(_row, rows), ""])


def _topic(topic: Topic) -> list[str]:
    kept = "the last of each key" if topic.retention_ms == -1 else f"{topic.retention_ms / _DAY_MS:g} days"
    return [
        f"`{topic.name}`",
        f"[{topic.message}](#{_anchor(topic.message)})" if topic.message else "as it came",
        topic.key,
        str(topic.partitions),
        kept,
        f"{topic.max_bytes:,}",
        ", ".join(topic.producers),
        ", ".join(topic.consumers),
        f"`{topic.dead_letter}`" if topic.dead_letter else "",
    ]


def _schema(name: str) -> str:
    schema = read_schema(name)
    definitions: Mapping[str, Schema] = schema.get("$defs", {})

    def link(definition: str) -> str:
        heading = name if definition == "#" else f"{definition} of {name}"
        return f"[{heading.partition(' ')[0]}](#{_anchor(heading)})"

    bytes_ = f" At most {DOCUMENTS[name]:,} bytes." if name in DOCUMENTS else ""
    head = [f"## {name}", "", schema["description"], "", f"Where: {usage_of(name)}.{bytes_}", ""]
    body = [*_shape(schema, link)]
    for definition, inner in definitions.items():
        body += [f"### {definition} of {name}", "", *_told(inner, link), *_shape(inner, link)]
    return "\n".join([*head, *body])


def _told(schema: Schema, link: Link) -> Iterator[str]:
    """A definition's own sentence, or what it is where it has no fields."""
    sentences = [schema["description"]] if "description" in schema else []
    if schema.keys() > {"$ref", "description"}:
        sentences += [f"It is a {kind_of(schema, link)} of which {asked(schema, link)}."]
    elif "properties" not in schema:
        plain = ", ".join([kind_of(schema, link), *rules_of(schema)])
        sentences += [f"{plain[0].upper()}{plain[1:]}."] if plain != "anything" else []
    yield from (*sentences, "") if sentences else ()


def _shape(schema: Schema, link: Link) -> Iterator[str]:
    """The table of fields, inner ones included, and the sentences below it."""
    if "$ref" in schema:
        return
    rows = list(_fields(schema, link, ""))
    if rows:
        names = ("field", "is", "rules", "meaning")
        yield from (_row(names), _row(["-"] * len(names)), *map(_row, rows), "")
    sentences = conditions_of(schema, link)
    if rows and schema.get("additionalProperties") is False:
        sentences = ["No other field.", *sentences]
    elif rows:
        sentences = ["Readers pass over other fields.", *sentences]
    if sentences:
        yield from (*(f"- {sentence}" for sentence in sentences), "")


def _fields(schema: Schema, link: Link, path: str) -> Iterator[list[str]]:
    properties: dict[str, Schema | bool] = schema.get("properties", {})
    for name, inner in properties.items():
        optional = "" if name in schema.get("required", ()) else ", optional"
        words = {} if isinstance(inner, bool) else inner
        meaning = [str(words["description"])] if "description" in words else []
        told = " ".join([*meaning, *conditions_of(words, link)])
        yield [f"`{path}{name}`", f"{kind_of(inner, link)}{optional}", ", ".join(rules_of(inner)), told]
        yield from _fields(words, link, f"{path}{name}.")
        yield from _fields(words.get("items", {}), link, f"{path}{name}[].")


def _row(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def _anchor(heading: str) -> str:
    """As a heading is named in a link."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
