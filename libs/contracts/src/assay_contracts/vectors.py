"""The test vectors of `schemas/vectors`: bytes of a message, and the verdict that every reader gives on them."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from assay_contracts.reasons import Reason

FILES: Final = ("bytes", "envelope", "keys", "moments", "numbers", "patterns", "shapes", "sizes")


@dataclass(frozen=True)
class Vector:
    """One line of a file; `reason` and `pointer` are None where the document is accepted.

    A `topic` carries it, or it stands alone as a document of a `schema`. A `key` counts only if the vector is `keyed`.
    """

    name: str
    topic: str | None
    schema: str | None
    value: bytes | None
    keyed: bool
    key: bytes | None
    reason: Reason | None
    pointer: str | None

    @property
    def carrier(self) -> str:
        """The topic, or the schema of what stands alone."""
        return self.topic or self.schema or ""


def read_vectors() -> Iterator[Vector]:
    """Every vector of every file."""
    for name in FILES:
        text = files("assay_contracts").joinpath("schemas", "vectors", f"{name}.jsonl").read_text("utf-8")
        for line in text.splitlines():
            yield _read(json.loads(line))


def _read(line: dict[str, Any]) -> Vector:
    if (line["verdict"] == "accepted") == ("reason" in line):
        raise ValueError(f"{line['name']} is neither accepted nor refused for a reason")
    return Vector(
        name=line["name"],
        topic=line.get("topic"),
        schema=line.get("schema"),
        value=_joined(line["parts"]) if "parts" in line else _bytes(line["value"]),
        keyed="key" in line,
        key=_bytes(line.get("key")),
        reason=line.get("reason"),
        pointer=line.get("pointer"),
    )


def _joined(parts: list[tuple[str, int]]) -> bytes:
    return b"".join(base64.b64decode(part) * times for part, times in parts)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
