"""Where a hunt begins: every example and every vector, as inputs of every kind that could take it."""

import hashlib
import json
from pathlib import Path
from typing import Final

from assay_contracts import schema
from assay_contracts.decoder import DOCUMENTS
from assay_contracts.topics import TOPICS
from assay_contracts.vectors import read_vectors
from examining import NAMES

_EXAMPLES: Final = Path(schema.__file__).parent / "schemas" / "examples"
_ENVELOPE: Final = b'{"version":1,"id":"0192f4e2-7c10-7c71-a4b1-0a3f1c2b8d44","ts":1747639400,"attempt":1,"payload":%s}'

LARGEST: Final = 66_000
"""Bytes of an input at most: a document's limit and some more."""


def write_seeds(folder: Path) -> None:
    """One file per seed, named after its content."""
    vectors = [(vector.carrier, vector.value) for vector in read_vectors() if vector.value is not None]
    for number, name in enumerate(NAMES):
        stated = [value for carrier, value in vectors if carrier == name and len(value) < LARGEST]
        for document in (*_documents(name), *stated):
            data = bytes([number]) + document
            (folder / hashlib.sha256(data).hexdigest()[:32]).write_bytes(data)


def _documents(name: str) -> list[bytes]:
    carried = name if name in DOCUMENTS else str(TOPICS[name].message)
    documents = [path.read_bytes() for path in sorted((_EXAMPLES / carried).rglob("*.json"))]
    if name in DOCUMENTS:
        return [*documents, *map(_without_whitespace, documents)]
    outer = [path.read_bytes() for path in sorted((_EXAMPLES / "envelope.v1").rglob("*.json"))]
    return [_ENVELOPE % _without_whitespace(document) for document in documents] + outer


def _without_whitespace(document: bytes) -> bytes:
    try:
        return json.dumps(json.loads(document), ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    except ValueError:
        return document.strip()
