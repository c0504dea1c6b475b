"""Copies dead letters from their rows to `<topic>.dlq`: key, value and headers as they came, origin and cause added.

The row is the truth and comes first; the copy is for Kafka's own tools. A crash between the copy and its mark copies
the letter once more.
"""

import base64
from collections.abc import Sequence

from assay_contracts.topics import topic
from assay_runtime.errors import DeliveryFailed, KafkaUnavailable
from assay_runtime.kafka import Outgoing, Publisher, letter_headers
from assay_runtime.logs import get_logger
from pydantic import TypeAdapter

from assay_relay import metrics
from assay_relay.store import Letter, SweepStore

_HEADERS = TypeAdapter(list[tuple[str, str | None]])

log = get_logger()


class Copier:
    """Copies at most one batch per call."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    def copy(self, store: SweepStore) -> int:
        """Copy the oldest letters that are on no topic yet; how many were claimed."""
        letters = store.claim_letters()
        if not letters:
            return 0
        try:
            copied = self._publish(letters)
        except (KafkaUnavailable, DeliveryFailed):
            store.return_letters(letters)
            raise
        store.mark_letters(copied)
        for letter in copied:
            metrics.DEAD_LETTERS.labels(letter.topic).inc()
        return len(letters)

    def _publish(self, letters: Sequence[Letter]) -> Sequence[Letter]:
        try:
            self._publisher.publish_batch([outgoing(letter) for letter in letters])
        except DeliveryFailed as failure:
            if not failure.permanent:
                raise
            return [letter for letter in letters if self._publish_alone(letter)]
        return letters

    def _publish_alone(self, letter: Letter) -> bool:
        """One of a batch is to blame: it keeps its claim until that runs out, and stops no other letter."""
        try:
            self._publisher.publish_batch([outgoing(letter)])
        except DeliveryFailed as failure:
            if not failure.permanent:
                raise
            metrics.DEAD_LETTERS_UNSENDABLE.inc()
            where = {"topic": letter.topic, "partition": letter.partition, "offset": letter.offset}
            log.error("dead_letter.unsendable", reason=str(failure), **where)
            return False
        return True


def outgoing(letter: Letter) -> Outgoing:
    """The copy: its own headers first, then where it came from and why it was given up on."""
    name = topic(letter.topic).dead_letter or f"{letter.topic}.dlq"
    original = [
        (header, None if value is None else base64.b64decode(value))
        for header, value in _HEADERS.validate_json(letter.headers)
    ]
    return Outgoing(name, letter.key, letter.value, [*original, *letter_headers(letter)], verbatim=True)
