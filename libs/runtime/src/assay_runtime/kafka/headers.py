"""The headers that every message carries, and those that tell where the copy of a dead letter came from."""

import re
import uuid
from typing import Protocol

_TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}")


def message_headers(envelope_id: uuid.UUID | str, schema: str, trace_id: str | None) -> list[tuple[str, bytes]]:
    """The headers of every message; `schema` reads `resolution.job/1`.

    The trace id is the payload's where that is a W3C trace id, else the envelope's id. The span id is the second half
    of the envelope's id, so that a repeated publication has the same headers.
    """
    identity = uuid.UUID(str(envelope_id))
    trace = trace_id if trace_id and _TRACE_ID.fullmatch(trace_id) else identity.hex
    return [
        ("content-type", b"application/json"),
        ("message_id", str(identity).encode()),
        ("correlation_id", str(identity).encode()),
        ("traceparent", f"00-{trace}-{identity.hex[16:]}-01".encode()),
        ("schema", schema.encode()),
    ]


class Letter(Protocol):
    """A record that was given up on, as its consumer's database keeps it; `topic` is the name without a prefix."""

    @property
    def reason(self) -> str: ...
    @property
    def cause(self) -> str: ...
    @property
    def topic(self) -> str: ...
    @property
    def topic_id(self) -> uuid.UUID: ...
    @property
    def partition(self) -> int: ...
    @property
    def offset(self) -> int: ...


def letter_headers(letter: Letter) -> list[tuple[str, bytes]]:
    """What stands behind the record's own headers in its copy: why it was given up on, and where it stood."""
    return [
        ("dlq-reason", letter.reason.encode()),
        ("dlq-cause", letter.cause.encode()),
        ("dlq-topic", letter.topic.encode()),
        ("dlq-topic-id", str(letter.topic_id).encode()),
        ("dlq-partition", str(letter.partition).encode()),
        ("dlq-offset", str(letter.offset).encode()),
    ]
