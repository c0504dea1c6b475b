"""Every reader of a message gives the verdict of the vectors, and there is no reader that this list does not know."""

import ast
import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args
from uuid import UUID

import pytest
from assay_cli.check.log import Record
from assay_cli.check.reading import is_readable
from assay_contracts.errors import InvalidMessage
from assay_contracts.reasons import BytesReason
from assay_contracts.vectors import Vector, read_vectors
from assay_intake.capture import read_metadata
from assay_intake.multipart import PartStream
from assay_product import deliveries
from assay_resolver.dead_letters import Origin
from assay_resolver_api import documents
from assay_resolver_api.errors import InvalidBody
from assay_stages import handling
from assay_stages.admission import Refuse
from starlette.requests import Request

ROOT: Final = Path(__file__).parents[2]
JOBS, EVENTS, CAPTURE = "resolution.job.v1", "catalog.event.v1", "capture.v1"
TOPIC_ID: Final = UUID(int=1)
BYTES: Final = {*get_args(BytesReason)} - {"null_value", "too_large"}

Verdict = str
"""A reason, `accepted`, or what stands for any verdict that the reader does not tell apart."""


@dataclass(frozen=True)
class MessageReader:
    """Reads what a carrier brings: which vectors apply, what is expected of each, and what it says."""

    carrier: str
    read: Callable[[Vector], Verdict]
    expected: Callable[[Vector], Verdict | None]
    """None where another part of the process answers before the reader."""


def stated(vector: Vector) -> Verdict:
    """The verdict of the vector."""
    return vector.reason or "accepted"


def yes_or_no(vector: Vector) -> Verdict:
    """For who only asks whether a message can be read."""
    return "refused" if vector.reason else "accepted"


def of_bytes(vector: Vector) -> Verdict | None:
    """For who has a schema of its own: what is no strict JSON is refused for the same reason."""
    if vector.reason == "too_large":
        return None
    return vector.reason if vector.reason is not None and vector.reason in BYTES else "not about bytes"


def read_in_stage(vector: Vector) -> Verdict:
    """③ what every stage does first with a record."""
    read = handling.read(Origin(TOPIC_ID, JOBS, 0, 0, key_of(vector), vector.value, ()))
    return read.reason if isinstance(read, Refuse) else "accepted"


def read_in_product(vector: Vector) -> Verdict:
    """⑦ what apply does first with a record; identity and epoch of the event are asked after the message."""
    read = deliveries.read(deliveries.Delivery(EVENTS, TOPIC_ID, 0, 0, key_of(vector), vector.value), "h1")
    if isinstance(read, deliveries.Refused) and read.reason not in ("wrong_event_id", "foreign_epoch"):
        return read.reason
    return "accepted"


def read_at_intake(vector: Vector) -> Verdict:
    """① the metadata of a request."""

    async def body() -> AsyncIterator[bytes]:
        yield b'--cut\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n'
        yield vector.value or b""
        yield b"\r\n--cut--\r\n"

    return _verdict(lambda: asyncio.run(_metadata(body())))


async def _metadata(body: AsyncIterator[bytes]) -> object:
    return await read_metadata(PartStream(body, b"cut", max_parts=2), None)


class AnyBody(documents.Document):
    """A body of which nothing is asked."""


def read_at_resolver(vector: Vector) -> Verdict:
    """⑤ the body of a person's answer."""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": vector.value or b"", "more_body": False}

    request = Request({"type": "http", "method": "POST", "headers": []}, receive)
    verdict = _verdict(lambda: asyncio.run(documents.read(request, AnyBody)))
    return verdict if verdict in BYTES else "not about bytes"


def read_in_checker(vector: Vector) -> Verdict:
    """What the checker takes for readable."""
    return "accepted" if is_readable(vector.carrier, Record(0, 0, key_of(vector), vector.value)) else "refused"


def key_of(vector: Vector) -> bytes | None:
    """The vector's key; the tenant of the document where it says nothing of it."""
    return vector.key if vector.keyed else b"ten_nordlicht"


def _verdict(read: Callable[[], object]) -> Verdict:
    try:
        read()
    except InvalidMessage as refusal:
        return refusal.reason
    except InvalidBody:
        return "not about bytes"
    return "accepted"


READERS: Final = {
    "every stage": MessageReader(JOBS, read_in_stage, stated),
    "product": MessageReader(EVENTS, read_in_product, stated),
    "intake over HTTP": MessageReader(CAPTURE, read_at_intake, stated),
    "resolver over HTTP": MessageReader(CAPTURE, read_at_resolver, of_bytes),
    "checker, of jobs": MessageReader(JOBS, read_in_checker, yes_or_no),
    "checker, of events": MessageReader(EVENTS, read_in_checker, yes_or_no),
}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_gives_the_verdict_of_the_vectors(name: str) -> None:
    reader = READERS[name]
    vectors = [vector for vector in read_vectors() if vector.carrier == reader.carrier]
    assert len(vectors) > 100
    asked = [(vector, expected) for vector in vectors if (expected := reader.expected(vector)) is not None]
    differing = [
        (vector.name, said, expected) for vector, expected in asked if (said := reader.read(vector)) != expected
    ]
    assert differing == []


IN_CONTRACTS: Final = "libs/contracts/src/assay_contracts/"
MODULES: Final = {
    "services/intake/src/assay_intake/capture.py": "intake over HTTP",
    "services/resolver/src/assay_resolver_api/documents.py": "resolver over HTTP",
    "services/stages/src/assay_stages/handling.py": "every stage",
    "services/product/src/assay_product/deliveries.py": "product",
    "services/relay/src/assay_relay/sweep.py": "asks of our own rows what a stage will ask",
    "libs/runtime/src/assay_runtime/witness.py": "reads the history's witness, which only the relay writes",
    "cli/src/assay_cli/check/reading.py": "checker, of jobs",
    "cli/src/assay_cli/check/letters.py": "checker, of jobs",
    "cli/src/assay_cli/check/jobs_topic.py": "checker, of jobs",
    "cli/src/assay_cli/check/events_topic.py": "checker, of events",
    "cli/src/assay_cli/check/history.py": "checker, of events",
    "cli/src/assay_cli/check/promises.py": "asks of our own rows what a stage will ask",
    "cli/src/assay_cli/commands/contracts.py": "the decoder by itself",
}
"""Every module that reads messages, and which reader it is. A new one gets a line here and, if it decides, above."""


def reading_modules(folders: Iterable[Path]) -> set[str]:
    """Modules outside the library that import its decoder or its parser."""
    found = {str(path.relative_to(ROOT)) for folder in folders for path in sorted(folder.rglob("*.py")) if reads(path)}
    return {name for name in found if not name.startswith(IN_CONTRACTS)}


def reads(path: Path) -> bool:
    """Whether a module imports what turns bytes into messages."""
    return any(
        name in ("assay_contracts.decoder", "assay_contracts.strict_json", "assay_contracts.reading")
        for name in _imports(ast.parse(path.read_text()))
    )


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


SOURCES: Final = (*ROOT.glob("libs/*/src"), *ROOT.glob("services/*/src"), ROOT / "cli" / "src")


def test_no_reader_is_missing_in_the_list() -> None:
    assert reading_modules(SOURCES) <= set(MODULES)
    assert {name for name in MODULES if (ROOT / name).exists() and not reads(ROOT / name)} == set()


def test_a_new_reader_is_found(tmp_path: Path) -> None:
    module = tmp_path / "peeking.py"
    for line in (
        "from assay_contracts.decoder import decode",
        "from assay_contracts import strict_json",
        "import assay_contracts.decoder",
    ):
        module.write_text(f"def read(): {line}\n")
        assert reads(module)
    module.write_text("from assay_contracts.encoder import encode\n")
    assert not reads(module)


JSON_OF_OUR_OWN: Final = {
    "services/stages/src/assay_stages/extract/facts.py": "an artifact of a stage before, by its hash",
    "services/product/src/assay_product/store/deliveries.py": "headers, as a row of ours keeps them",
    "libs/resolver/src/assay_resolver/reading.py": "a fact, as a row of ours keeps it",
    "libs/resolver/src/assay_resolver/snapshot.py": "facts, as a row of ours keeps them",
    "services/relay/src/assay_relay/letters.py": "headers, as a row of ours keeps them",
    "services/relay/src/assay_relay/api/snapshots.py": "rows of ours",
    "services/product/src/assay_product/views.py": "rows of ours",
    "cli/src/assay_cli/explaining.py": "what a person stated, from the evidence that the resolver wrote",
    "cli/src/assay_cli/demo.py": "a file of the demonstration",
    "cli/src/assay_cli/stack/durable.py": "a file of the local stack",
    "cli/src/assay_cli/captures.py": "a list of pages in a folder",
    "cli/src/assay_cli/check/history.py": "a change, as a row of ours keeps it",
    "cli/src/assay_cli/check/projection.py": "rows of ours",
}
"""Modules with a JSON parser that is not the strict one, and what they read with it: never a message."""
PARSERS: Final = ("loads", "load", "model_validate_json", "validate_json", "raw_decode")


def parsing_modules(folders: Iterable[Path]) -> set[str]:
    """Modules outside the library that call a JSON parser of another."""
    found = {str(path.relative_to(ROOT)) for folder in folders for path in sorted(folder.rglob("*.py")) if parses(path)}
    return {name for name in found if not name.startswith(IN_CONTRACTS)}


def parses(path: Path) -> bool:
    """Whether a module calls such a parser by one of its names."""
    calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    return any(_is_parser(call) for call in calls)


def _is_parser(call: ast.expr) -> bool:
    if not isinstance(call, ast.Attribute) or call.attr not in PARSERS:
        return False
    owner = call.value.id if isinstance(call.value, ast.Name) else ""
    return call.attr not in ("load", "loads") or owner in ("json", "orjson")


def test_no_message_is_read_by_another_parser() -> None:
    assert parsing_modules(SOURCES) <= set(JSON_OF_OUR_OWN) | READ_PAGES


READ_PAGES: Final = {
    str(path.relative_to(ROOT)) for path in (ROOT / "services/stages/src/assay_stages/extract").glob("*.py")
}
"""What is in a page is not ours to be strict about."""


def test_another_parser_is_found(tmp_path: Path) -> None:
    module = tmp_path / "loose.py"
    for line in ("json.loads(data)", "orjson.loads(data)", "Model.model_validate_json(data)"):
        module.write_text(line)
        assert parses(module)
    module.write_text("toml.loads(data)")
    assert not parses(module)
