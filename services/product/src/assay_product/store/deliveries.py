"""What apply keeps of Kafka in its own database: how far it has read, and the records that take no effect."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from assay_runtime import sql

from assay_product.deliveries import Headers, Refused
from assay_product.store.batch import Conn

CAUSE_KEPT = 1_000

_OFFSET = sql.load("assay_product", "kafka_offset")
_LETTER = sql.load("assay_product", "dead_letter")


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A stored refusal on its way to the dead-letter topic."""

    topic_id: UUID
    partition: int
    offset: int
    topic: str
    reason: str
    cause: str
    key: bytes | None
    value: bytes | None
    headers: Headers


def read_offsets(conn: Conn, topic_id: UUID) -> dict[int, int]:
    """Where apply stands, by partition."""
    return {
        int(partition): int(offset)
        for partition, offset in conn.execute(_OFFSET["read_offsets"], {"topic_id": topic_id})
    }


def move_offsets(conn: Conn, offsets: Mapping[tuple[UUID, int], int]) -> None:
    """Everything of (topic id, partition) below its offset has taken effect."""
    parameters = {
        "topic_id": [topic_id for topic_id, _ in offsets],
        "partition": [partition for _, partition in offsets],
        "next_offset": list(offsets.values()),
    }
    conn.execute(_OFFSET["move_offsets"], parameters)


def insert_dead_letters(conn: Conn, refused: Sequence[Refused]) -> None:
    """Keep the records whole, with their causes."""
    if not refused:
        return
    origins = [one.delivery for one in refused]
    parameters = {
        "topic_id": [origin.topic_id for origin in origins],
        "partition": [origin.partition for origin in origins],
        "offset": [origin.offset for origin in origins],
        "topic": [origin.topic for origin in origins],
        "tenant_id": [one.tenant_id for one in refused],
        "reason": [one.reason for one in refused],
        "cause": [_storable(one.cause) for one in refused],
        "key": [origin.key for origin in origins],
        "value": [origin.value for origin in origins],
        "headers": [_headers_to_json(origin.headers) for origin in origins],
    }
    conn.execute(_LETTER["insert_dead_letters"], parameters)


def read_unpublished(conn: Conn, limit: int) -> list[DeadLetter]:
    """The oldest dead letters that the topic does not have yet."""
    return [
        DeadLetter(*origin, key=key, value=value, headers=_headers_of_json(headers))
        for *origin, key, value, headers in conn.execute(_LETTER["read_unpublished"], {"limit": limit})
    ]


def mark_published(conn: Conn, letters: Sequence[DeadLetter]) -> None:
    """The topic has them."""
    parameters = {
        "topic_id": [letter.topic_id for letter in letters],
        "partition": [letter.partition for letter in letters],
        "offset": [letter.offset for letter in letters],
    }
    conn.execute(_LETTER["mark_published"], parameters)


def _headers_to_json(headers: Headers) -> str:
    return json.dumps([[name, None if value is None else base64.b64encode(value).decode()] for name, value in headers])


def _headers_of_json(text: str) -> Headers:
    return [(name, None if value is None else base64.b64decode(value)) for name, value in json.loads(text)]


def _storable(cause: str) -> str:
    """Cut, and without what Postgres cannot hold as text."""
    return cause[:CAUSE_KEPT].replace("\x00", "").encode("utf-8", "replace").decode()
