"""What may go wrong in the folder of contracts, or between it and who names its topics; each fault a sentence."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from assay_contracts.usage import API_DOCUMENTS

VERSIONED = re.compile(r"[a-z]+(?:\.[a-z]+)*\.v[1-9][0-9]*")
NOT_CONTRACTS = {"README.md", "published.yaml", "topics", "examples", "vectors"}
SOURCES = ("libs", "services", "cli")
READERS_OF_TOPICS = {"topic", "decode", "judge", "check_key"}
IN_CHARTS = re.compile(r"(?<![\w./-])(?:[a-z]+(?:\.[a-z]+)+\.v[0-9]+|(?:ocr|fraud|edgar)\.[a-z]+)(?:\.dlq)?(?![\w/-])")


def folder_faults(folder: Path) -> list[str]:
    """Orphans, holes and dead ends among schemas, topics and promises of a folder like `schemas`."""
    schemas = {path.name.removesuffix(".schema.json"): path for path in folder.glob("*.schema.json")}
    topics = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in (folder / "topics").glob("*.yaml")}
    return [
        *_strangers(folder, schemas),
        *_misnamed(schemas),
        *_holes(set(schemas), "schema"),
        *_holes(set(topics), "topic"),
        *_topic_faults(topics, set(schemas)),
        *_unused(topics, set(schemas)),
        *_unkept_promises(folder, set(schemas), set(topics)),
    ]


def _strangers(folder: Path, schemas: dict[str, Path]) -> Iterator[str]:
    known = NOT_CONTRACTS | {path.name for path in schemas.values()}
    yield from (f"{path.name} is no contract" for path in folder.iterdir() if path.name not in known)
    for path in (folder / "topics").iterdir():
        if path.suffix != ".yaml":
            yield f"topics/{path.name} is no topic"


def _misnamed(schemas: dict[str, Path]) -> Iterator[str]:
    for name, path in schemas.items():
        named = json.loads(path.read_bytes()).get("$id", "")
        message, _, version = name.rpartition(".")
        if not VERSIONED.fullmatch(name) or named != f"urn:assay:schema:{message}:{version}":
            yield f"{path.name} is named {named!r} inside"


def _holes(names: set[str], kind: str) -> Iterator[str]:
    for name in names:
        stem, found, number = name.partition(".v")
        for n in range(1, int(re.sub(r"\D.*", "", number)) if found else 1):
            earlier = name.replace(f".v{number.partition('.')[0]}", f".v{n}", 1)
            if earlier not in names:
                yield f"{kind} {earlier} is missing below {stem}.v{number}"


def _topic_faults(topics: dict[str, Any], schemas: set[str]) -> Iterator[str]:
    letters = {topic.get("dead_letter") for topic in topics.values()}
    for name, topic in topics.items():
        if topic.get("name") != name:
            yield f"topic {name} is named {topic.get('name')!r} inside"
        if topic.get("message") not in {None, *schemas}:
            yield f"topic {name} carries {topic['message']}, of which there is no schema"
        if topic.get("dead_letter") not in {None, *topics}:
            yield f"topic {name} sends what is refused to {topic['dead_letter']}, of which there is no file"
        if topic.get("message") is None and name not in letters:
            yield f"topic {name} carries no message, and no topic's refused ones"


def _unused(topics: dict[str, Any], schemas: set[str]) -> Iterator[str]:
    used = {topic.get("message") for topic in topics.values()} | set(API_DOCUMENTS) | {"envelope.v1"}
    yield from (f"schema {name} is used by no topic and no API" for name in schemas - used)
    yield from (f"schema {name} is used by an API and has no file" for name in set(API_DOCUMENTS) - schemas)


def _unkept_promises(folder: Path, schemas: set[str], topics: set[str]) -> Iterator[str]:
    published = yaml.safe_load((folder / "published.yaml").read_text("utf-8"))
    for kind, there in (("schemas", schemas), ("topics", topics)):
        yield from (f"{kind} {name} is promised and has no file" for name in set(published[kind]) - there)


def unknown_topics(root: Path, known: set[str]) -> list[str]:
    """Topics that sources and charts below a folder name, and that are none; `known` also has the schemas."""
    sources = [path for place in SOURCES for path in root.glob(f"{place}/**/*.py") if "tests" not in path.parts]
    named = [(path, name) for path in sources for name in _named_in_code(path.read_text("utf-8"))]
    for pattern in ("*.yaml", "*.tpl", "*.json"):
        charts = root.glob(f"helm/**/{pattern}")
        named += [(path, name) for path in charts for name in IN_CHARTS.findall(path.read_text("utf-8"))]
    return [f"{path.relative_to(root)} names {name}" for path, name in named if name not in known]


def _named_in_code(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Constant(value=str(name)) if VERSIONED.fullmatch(name.removesuffix(".dlq")):
                yield name
            case ast.Call(func=ast.Name(id=function), args=[ast.Constant(value=str(name)), *_]):
                if function in READERS_OF_TOPICS:
                    yield name
            case ast.Subscript(value=ast.Name(id="TOPICS"), slice=ast.Constant(value=str(name))):
                yield name
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Constant(value=str(name))):
                if target.endswith("TOPIC"):
                    yield name
            case _:
                pass
