"""The topics and their messages as one AsyncAPI 3 document, made of the schema and topic files and of nothing else."""

from collections.abc import Iterable
from importlib.metadata import version
from importlib.resources import files
from typing import Any, Final, TypeAlias, cast

import orjson

from assay_contracts.schema import SCHEMAS, read_schema
from assay_contracts.topics import TOPICS, Topic

Document: TypeAlias = dict[str, Any]

_LOOSE: Final = "_untouched"
_DROPPED: Final = {"$schema", "$id", "$defs"}
_BESIDE: Final = {"$ref", "description"}
"""What may stand beside a reference without being passed over, as AsyncAPI's older JSON Schema does with the rest."""
_FRAMES: Final = "pulse.worker.v1"
_ENVELOPE: Final = {"version": 1, "id": "0192f4e2-7c10-7c71-a4b1-0a3f1c2b8d44", "ts": 1_747_639_400, "attempt": 1}
_HEADERS: Final[Document] = {
    "description": "Kafka headers of a message. message_id and correlation_id are the id of its envelope.",
    "type": "object",
    "properties": {
        "content-type": {"const": "application/json"},
        "message_id": {"type": "string"},
        "correlation_id": {"type": "string"},
        "traceparent": {"type": "string", "description": "W3C Trace Context."},
        "schema": {"type": "string", "description": "Name and version of the payload, such as resolution.job/1."},
    },
}


def asyncapi() -> Document:
    """The whole document; equal for equal files."""
    carried = [topic for topic in TOPICS.values() if topic.message is not None]
    return {
        "asyncapi": "3.0.0",
        "id": "urn:assay:topics",
        "info": {
            "title": "Assay",
            "version": version("assay-contracts"),
            "description": "Made from schemas/ by `make reference`. Topic names are without an installation's prefix.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": {**{topic.name: _channel(topic) for topic in TOPICS.values()}, _FRAMES: _frames_channel()},
        "operations": {**dict(_operations()), **_frames_operations()},
        "components": {
            "messages": {
                **{topic.name: _message(topic) for topic in carried},
                _LOOSE: _untouched(),
                **{f"{_FRAMES}.{part}": _frame(part) for part in ("clientFrame", "serverFrame")},
            },
            "schemas": {"headers": _HEADERS, **dict(_schemas()), **{_value_name(t): _value(t) for t in carried}},
        },
    }


def asyncapi_bytes() -> bytes:
    """The document as its file holds it."""
    return orjson.dumps(asyncapi(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _channel(topic: Topic) -> Document:
    name = topic.name if topic.message else _LOOSE
    configuration = {
        "cleanup.policy": [topic.cleanup],
        "retention.ms": topic.retention_ms,
        "max.message.bytes": topic.max_bytes,
    }
    return {
        "address": topic.name,
        "description": f"Owned by {topic.owner}. The key is the {topic.key}. At most {topic.max_bytes} bytes a value.",
        "messages": {name: {"$ref": f"#/components/messages/{name}"}},
        "bindings": {
            "kafka": {
                "topic": topic.name,
                "partitions": topic.partitions,
                "topicConfiguration": configuration,
                "bindingVersion": "0.5.0",
            }
        },
        **({"x-dead-letter-topic": topic.dead_letter} if topic.dead_letter else {}),
    }


def _operations() -> Iterable[tuple[str, Document]]:
    for topic in TOPICS.values():
        for action, verb, processes in (("send", "sends", topic.producers), ("receive", "receives", topic.consumers)):
            for process in processes:
                operation = {"action": action, "channel": {"$ref": f"#/channels/{topic.name}"}, "x-process": process}
                yield f"{process}.{verb}.{topic.name}", operation


def _message(topic: Topic) -> Document:
    schema = read_schema(str(topic.message))
    enveloped = topic.key == "tenant"
    key = {"type": "string", "description": f"The {topic.key}."}
    return {
        "name": topic.message,
        "title": schema["title"],
        "description": schema["description"],
        "headers": {"$ref": "#/components/schemas/headers"},
        **({"correlationId": {"location": "$message.header#/correlation_id"}} if enveloped else {}),
        "payload": {"$ref": f"#/components/schemas/{_value_name(topic)}"},
        "bindings": {"kafka": {"key": key, "bindingVersion": "0.5.0"}},
        "examples": [_example(str(topic.message), enveloped=enveloped)],
    }


def _example(message: str, *, enveloped: bool) -> Document:
    """The first of the accepted ones."""
    folder = files("assay_contracts").joinpath("schemas", "examples", message)
    first = min((one for one in folder.iterdir() if one.name.endswith(".json")), key=lambda one: one.name)
    document: Document = orjson.loads(first.read_bytes())
    name = first.name.removesuffix(".json")
    return {"name": name, "payload": {**_ENVELOPE, "payload": document} if enveloped else document}


def _untouched() -> Document:
    """What a dead-letter topic carries."""
    return {
        "name": "untouched",
        "title": "A refused value",
        "description": "Byte for byte as it was refused, with its headers and more of them: why, and where it stood.",
        "contentType": "application/octet-stream",
        "payload": {},
    }


def _value_name(topic: Topic) -> str:
    return f"kafka.{topic.name}"


def _value(topic: Topic) -> Document:
    """The whole Kafka value: an envelope around the message, or the message alone."""
    message = {"$ref": f"#/components/schemas/{topic.message}"}
    if topic.key != "tenant":
        return {"allOf": [message]}
    envelope = {"$ref": "#/components/schemas/envelope.v1"}
    return {"allOf": [envelope, {"type": "object", "properties": {"payload": message}}]}


def _frames_channel() -> Document:
    messages = {part: {"$ref": f"#/components/messages/{_FRAMES}.{part}"} for part in ("clientFrame", "serverFrame")}
    return {
        "address": None,
        "description": "A WebSocket between a worker and the gateway; the gateway's own page names the address.",
        "messages": messages,
    }


def _frames_operations() -> Document:
    return {
        f"workers.gateway.{verb}.{part}": {
            "action": action,
            "channel": {"$ref": f"#/channels/{_FRAMES}"},
            "messages": [{"$ref": f"#/channels/{_FRAMES}/messages/{part}"}],
            "x-process": "workers.gateway",
        }
        for action, verb, part in (("receive", "receives", "clientFrame"), ("send", "sends", "serverFrame"))
    }


def _frame(part: str) -> Document:
    description = read_schema(f"{_FRAMES}#{part}")["description"]
    return {"name": part, "description": description, "payload": {"$ref": f"#/components/schemas/{_FRAMES}.{part}"}}


def _schemas() -> Iterable[tuple[str, Document]]:
    """Every schema, its definitions beside it: nothing in it needs a base address to be found."""
    for name in SCHEMAS:
        schema = read_schema(name)
        yield name, _moved(schema, name)
        for definition, inner in schema.get("$defs", {}).items():
            yield f"{name}.{definition}", _moved(inner, name)


def _moved(node: Any, name: str) -> Any:
    """A piece of a schema whose references lead to the components of this document."""
    if isinstance(node, list):
        return [_moved(one, name) for one in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    members = cast("Document", node)
    moved = {word: _moved(value, name) for word, value in members.items() if word not in _DROPPED}
    if not isinstance(members.get("$ref"), str):
        return moved
    target = {"$ref": _target(members["$ref"], name)}
    return {**moved, **target} if moved.keys() <= _BESIDE else {"allOf": [target], **_without_reference(moved)}


def _without_reference(schema: Document) -> Document:
    return {word: value for word, value in schema.items() if word != "$ref"}


def _target(reference: str, name: str) -> str:
    definition = reference.removeprefix("#/$defs/")
    return f"#/components/schemas/{name}" if reference == "#" else f"#/components/schemas/{name}.{definition}"
