"""What is asked of every input: an answer without a crash, in little time, and the same by both ways of the decoder."""

import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from assay_contracts.decoder import (
    DOCUMENTS,
    _of_document,  # pyright: ignore[reportPrivateUsage]  both of its ways
    _of_topic,  # pyright: ignore[reportPrivateUsage]  both of its ways
    decode,
    decode_document,
    judge,
    judge_document,
)
from assay_contracts.errors import InvalidMessage
from assay_contracts.topics import TOPICS
from plain import PlainRefusal, plain_decode, plain_decode_document
from pydantic import BaseModel

NAMES: Final = (*(name for name, topic in TOPICS.items() if topic.message and topic.key == "tenant"), *DOCUMENTS)
"""What an input may be meant for; its first byte tells which."""
CPU_SECONDS: Final = 0.05
SAMPLE: Final = 8
"""Of the refused inputs, every so many-th is put to the reference, too; of the accepted ones, each."""
_MEASUREMENTS: Final = 5

Refusal = tuple[str, str, str]


class Difference(Exception):
    """The quick way and the reference do not agree."""


class TooSlow(Exception):
    """An input costs more CPU than any may."""


class Defect(Exception):
    """The schema takes a document that the model refuses."""


@dataclass
class Examined:
    """What one run has seen."""

    inputs: int = 0
    accepted: int = 0
    compared: int = 0
    slowest_seconds: float = 0.0
    reasons: dict[str, int] = field(default_factory=dict[str, int])


def name_of(data: bytes) -> str:
    """What the input is meant for."""
    return NAMES[data[0] % len(NAMES)]


def examine(data: bytes, examined: Examined) -> None:
    """Put one input to the decoder; raises what it finds wrong."""
    if not data:
        return
    name, document = name_of(data), data[1:]
    started = time.thread_time()
    answer = _answer(lambda: _read(name, document))
    seconds = time.thread_time() - started
    if seconds > CPU_SECONDS:
        seconds = _measure_plainly(name, document)
    examined.inputs += 1
    examined.slowest_seconds = max(examined.slowest_seconds, seconds)
    _count(answer, examined)
    if isinstance(answer, BaseModel) or zlib.crc32(data) % SAMPLE == 0:
        examined.compared += 1
        _compare(name, document, answer)


def _count(answer: BaseModel | Refusal | None, examined: Examined) -> None:
    if isinstance(answer, BaseModel):
        examined.accepted += 1
        return
    assert answer is not None, "reading ends in a message or a refusal"
    reason, _, text = answer
    examined.reasons[reason] = examined.reasons.get(reason, 0) + 1
    if reason == "not_modelled":
        raise Defect(text)


def _measure_plainly(name: str, document: bytes) -> float:
    """The least of several times, without instruments: what others cost on this machine is not the decoder's."""
    times: list[float] = []
    for _ in range(_MEASUREMENTS):
        started = time.thread_time()
        with suppress(PlainRefusal):
            (plain_decode_document if name in DOCUMENTS else plain_decode)(name, document)
        times.append(time.thread_time() - started)
    if min(times) > CPU_SECONDS:
        raise TooSlow(f"{name}: {len(document)} bytes take {min(times) * 1000:.0f} ms of CPU")
    return min(times)


def _compare(name: str, document: bytes, answer: BaseModel | Refusal | None) -> None:
    reference = _answer(lambda: _reference(name, document))
    judged = _answer(lambda: _judge(name, document))
    same = answer == reference and repr(answer) == repr(reference)
    if not same or judged != (None if isinstance(reference, BaseModel) else reference):
        raise Difference(f"{name}: quick {answer!r:.300}, judged {judged!r:.300}, reference {reference!r:.300}")


def _answer(ask: Callable[[], BaseModel | None]) -> BaseModel | Refusal | None:
    try:
        return ask()
    except InvalidMessage as refusal:
        return refusal.reason, refusal.pointer, refusal.text


def _read(name: str, document: bytes) -> BaseModel:
    return decode_document(name, document) if name in DOCUMENTS else decode(name, document)


def _reference(name: str, document: bytes) -> BaseModel:
    return (_of_document(name) if name in DOCUMENTS else _of_topic(name)).read_slowly(document)


def _judge(name: str, document: bytes) -> None:
    if name in DOCUMENTS:
        judge_document(name, document)
    else:
        judge(name, document)
