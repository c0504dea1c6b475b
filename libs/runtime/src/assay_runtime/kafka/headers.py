"""The headers that every message carries."""

import re
import uuid

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
