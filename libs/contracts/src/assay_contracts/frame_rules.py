"""What a frame's schema leaves open: the size and depth of business values, and the session that it names twice."""

import json
from collections.abc import Iterator

from assay_contracts import bounds, scanning
from assay_contracts.contradictions import Contradictions, Document
from assay_contracts.pointers import Path
from assay_contracts.strict_json import Json


def check_frame(frame: Document) -> Contradictions:
    """A value fits the task that keeps it, and a welcome is of the session that its frame names."""
    body: Document = frame.get("body", {})
    for path, value in _values(frame, body):
        yield from _check_value(value, path)
    if body.get("session_id", frame.get("session_id")) != frame.get("session_id"):
        yield "session_mismatch", ("body", "session_id"), "is not the session of the frame"


def _values(frame: Document, body: Document) -> Iterator[tuple[Path, Json]]:
    if frame["type"] == "task.finish":
        yield ("body", "result"), body["result"]
    elif frame["type"] == "task.assign":
        task: Document = body["task"]
        yield from ((("body", "task", name), task[name]) for name in ("payload", "result") if name in task)


def _check_value(value: Json, path: Path) -> Contradictions:
    data = _written(value)
    if scanning.depth(scanning.outside_strings(data)) > bounds.VALUE_DEPTH:
        yield "value_too_deep", path, f"more than {bounds.VALUE_DEPTH} arrays and objects in one another"
    if len(data) > bounds.VALUE_BYTES:
        yield "value_too_large", path, f"has more than {bounds.VALUE_BYTES} bytes"


def _written(value: Json) -> bytes:
    """As UTF-8 without whitespace, which is how a value is kept and sent."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
