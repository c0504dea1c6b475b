"""How a vector is stated: a document that is right, one thing done to it, and the verdict on that, by a person."""

import base64
import copy
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from assay_contracts import schema
from assay_contracts.decoder import DOCUMENTS
from assay_contracts.reasons import Reason
from assay_contracts.topics import TOPICS

EXAMPLES: Final = Path(schema.__file__).parent / "schemas" / "examples"
OUTER: Final[dict[str, Any]] = {
    "version": 1,
    "id": "0192f4e2-7c10-7c71-a4b1-0a3f1c2b8d44",
    "ts": 1747639400,
    "attempt": 1,
}
CARRIERS: Final = (*(name for name, topic in TOPICS.items() if topic.message and topic.key == "tenant"), *DOCUMENTS)
"""Everything that a document can be sent as."""

Parts = Sequence[tuple[bytes, int]]
"""Pieces of bytes, and how many times each stands there."""


@dataclass(frozen=True)
class Stated:
    """A vector before it is written."""

    name: str
    carrier: str
    value: bytes | Parts | None
    reason: Reason | None = None
    pointer: str = ""
    key: bytes | Literal["unasked"] | None = "unasked"

    def line(self) -> str:
        """Its line in a file."""
        told: dict[str, Any] = {"name": self.name, "schema" if self.carrier in DOCUMENTS else "topic": self.carrier}
        if self.value is None or isinstance(self.value, bytes):
            told["value"] = _text(self.value)
        else:
            told["parts"] = [[_text(part), times] for part, times in self.value]
        if self.key != "unasked":
            told["key"] = _text(self.key)
        told["verdict"] = "accepted" if self.reason is None else "refused"
        if self.reason is not None:
            told |= {"reason": self.reason, "pointer": self.pointer}
        return json.dumps(told) + "\n"


def _text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")


def documents(carrier: str) -> list[tuple[str, Any]]:
    """The accepted examples of a carrier, each with its name, as it carries them."""
    name = carrier if carrier in DOCUMENTS else str(TOPICS[carrier].message)
    found = [(path.stem, json.loads(path.read_bytes())) for path in sorted((EXAMPLES / name).glob("*.json"))]
    return found if carrier in DOCUMENTS else [(stem, {**OUTER, "payload": document}) for stem, document in found]


def right(carrier: str) -> Any:
    """A document that is right."""
    return documents(carrier)[0][1]


def written(document: Any) -> bytes:
    """Compact, with everything in UTF-8."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def changed(document: Any, pointer: str, value: Any) -> bytes:
    """The document with another value at a JSON pointer."""
    copied, parts = copy.deepcopy(document), pointer.split("/")[1:]
    inner = copied
    for part in parts[:-1]:
        inner = inner[int(part) if isinstance(inner, list) else part]
    inner[int(parts[-1]) if isinstance(inner, list) else parts[-1]] = value
    return written(copied)


def without(document: Any, key: str) -> bytes:
    """The document without one of its outer fields."""
    return written({name: value for name, value in document.items() if name != key})


def spelled(document: Any, pointer: str, token: bytes) -> bytes:
    """The document with a token of JSON, or of no JSON, at a pointer."""
    return changed(document, pointer, "the token").replace(b'"the token"', token)


def with_field(document: Any, name: bytes, token: bytes) -> bytes:
    """The document with one more outer field, the last."""
    return written(document)[:-1] + b',"' + name + b'":' + token + b"}"


def lines(stated: Iterable[Stated]) -> str:
    """A whole file."""
    return "".join(one.line() for one in stated)
