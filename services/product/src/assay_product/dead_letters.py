"""Copies kept refusals to the dead-letter topic: the row came first, so a crash here only publishes twice."""

from collections.abc import Callable
from typing import Final

from assay_contracts.topics import topic
from assay_runtime.errors import DeliveryFailed, KafkaUnavailable
from assay_runtime.kafka import Outgoing, Publisher, letter_headers
from assay_runtime.logs import get_logger
from assay_runtime.postgres import SyncPool

from assay_product import metrics
from assay_product.deliveries import TOPIC
from assay_product.store.deliveries import DeadLetter, mark_published, read_unpublished

AT_ONCE: Final = 100

log = get_logger()


class Sweep:
    """Publishes what waits; makes its producer only when the first dead letter does."""

    def __init__(self, pool: SyncPool, make_publisher: Callable[[], Publisher]) -> None:
        self._pool = pool
        self._make_publisher = make_publisher
        self._publisher: Publisher | None = None
        self._unpublishable: set[tuple[object, ...]] = set()

    def run(self) -> None:
        """One round. Kafka away: the next round tries again. The database away: raises, as every reader of it does."""
        with self._pool.connection() as conn:
            waiting = [one for one in read_unpublished(conn, AT_ONCE) if _place(one) not in self._unpublishable]
        metrics.UNPUBLISHED.set(len(waiting))
        published = self._publish(waiting) if waiting else []
        if published:
            with self._pool.connection() as conn:
                mark_published(conn, published)

    def close(self) -> None:
        """Let go of the producer."""
        if self._publisher is not None:
            self._publisher.close()

    def _publish(self, letters: list[DeadLetter]) -> list[DeadLetter]:
        self._publisher = self._publisher or self._make_publisher()
        try:
            self._publisher.publish_batch([outgoing(letter) for letter in letters])
        except KafkaUnavailable:
            return []
        except DeliveryFailed as failure:
            if len(letters) > 1:
                return [sent for letter in letters for sent in self._publish([letter])]
            if failure.permanent:
                self._give_up(letters[0], failure)
            return []
        return letters

    def _give_up(self, letter: DeadLetter, failure: DeliveryFailed) -> None:
        self._unpublishable.add(_place(letter))
        log.error(
            "dead_letter.unpublishable",
            partition=letter.partition,
            offset=letter.offset,
            error=str(failure),
            topic=TOPIC,
        )


def outgoing(letter: DeadLetter) -> Outgoing:
    """The original value untouched, its own headers, and beside them its cause and origin."""
    target = topic(TOPIC).dead_letter
    assert target is not None, "the topic file names where dead letters go"
    return Outgoing(target, letter.key, letter.value, [*letter.headers, *letter_headers(letter)], verbatim=True)


def _place(letter: DeadLetter) -> tuple[object, ...]:
    return letter.topic_id, letter.partition, letter.offset
