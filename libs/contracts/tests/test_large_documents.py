"""Whatever a document of the largest size holds, its verdict costs little CPU."""

import gc
import json
import time
from typing import Any, Final

import pytest
from assay_contracts import bounds, strict_json
from assay_contracts.decoder import decode, decode_document
from assay_contracts.errors import InvalidMessage

from .test_fast import OUTER, accepted

UNITS: Final = {
    "integers": b"0",
    "numbers": b"1.0",
    "long numbers": b"1.2345678901234567e300",
    "objects": b'{"a":0}',
    "empty objects": b"{}",
    "empty arrays": b"[]",
    "texts": b'""',
    "escapes": b'"\\u0061"',
    "what looks like U+0000": b'"\\\\u0000"',
    "depth": b"[" * 50 + b"]" * 50,
    "escapes in depth": b"[" * 50 + b'"\\u0061"' + b"]" * 50,
}
CPU_SECONDS: Final = 0.15
"""Three times what any may cost on a machine of its own."""
HOLE: Final = b'"hole"'


def filled(document: Any, unit: bytes, size: int) -> bytes:
    """A document whose hole holds as many units as fit."""
    around = json.dumps(document).encode()
    return around.replace(HOLE, b"[" + b",".join([unit] * ((size - len(around)) // (len(unit) + 1))) + b"]")


def cpu_seconds(name: str, data: bytes) -> float:
    """The least of three times."""
    times: list[float] = []
    for _ in range(3):
        started = time.thread_time()
        try:
            if "#" in name:
                decode_document(name, data)
            else:
                decode(name, data)
        except InvalidMessage as refusal:
            assert refusal.reason != "too_large"
        times.append(time.thread_time() - started)
    return min(times)


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_a_large_event_costs_little_cpu(unit: bytes) -> None:
    event = accepted("catalog.event.v1")[0]
    for document in (
        {**event, "unknown": "hole"},
        {**event, "payload": {**event["payload"], "dependencies": "hole"}},
        {**event, "payload": "hole"},
    ):
        assert cpu_seconds("catalog.event.v1", filled(document, unit, 262_144)) < CPU_SECONDS


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_a_large_frame_costs_little_cpu(unit: bytes) -> None:
    frame: dict[str, Any] = {
        "protocol_version": "1",
        "type": "task.finish",
        "message_id": "1" * 32,
        "session_id": "a" * 32,
        "body": {
            "ref": {"task_id": "d" * 32, "attempt_id": "e" * 32, "epoch": "1", "lease_secret": "b" * 42 + "A"},
            "outcome": "SUCCEEDED",
            "result": "hole",
        },
    }
    data = filled(frame, unit, bounds.VALUE_BYTES)
    assert cpu_seconds("pulse.worker.v1#clientFrame", data) < CPU_SECONDS


@pytest.mark.parametrize(
    "end", [b"", b',"x":1,"x":2}', b',"x":NaN}', b',"x":1e400}', b',"x":"\\ud800"}', b',"x":"\\u0000"}']
)
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_what_is_no_strict_json_costs_in_proportion_to_its_size(unit: bytes, end: bytes) -> None:
    data = filled({**OUTER, "payload": "hole"}, unit, 65_536)[:-1] + end
    started = time.thread_time()
    with pytest.raises(InvalidMessage):
        strict_json.parse(data)
    assert time.thread_time() - started < CPU_SECONDS


def test_the_collector_goes_on_after_a_large_document() -> None:
    assert gc.isenabled()
    with pytest.raises(InvalidMessage):
        decode("catalog.event.v1", b"[" * 20_000)
    assert gc.isenabled()
