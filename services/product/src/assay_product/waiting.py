"""How apply meets an outage: it holds what it has, says what it waits for, and repeats."""

from collections.abc import Callable
from typing import Final, TypeVar

from assay_runtime.errors import KafkaUnavailable
from assay_runtime.health import Health
from assay_runtime.logs import get_logger
from assay_runtime.postgres import is_conflict, is_outage
from assay_runtime.stop import Stop
from confluent_kafka import KafkaException
from psycopg import errors

from assay_product import metrics
from assay_product.errors import GenerationMoved, Stopped, TopicMissing

FIRST_PAUSE_SECONDS: Final = 0.1
LONGEST_PAUSE_SECONDS: Final = 5.0

_OVERTIME: Final = (
    errors.QueryCanceled,
    errors.LockNotAvailable,
    errors.TransactionTimeout,
    errors.IdleInTransactionSessionTimeout,
)
_PASSING: Final = (GenerationMoved, TopicMissing, KafkaUnavailable, KafkaException, *_OVERTIME)

log = get_logger()
T = TypeVar("T")


def is_overtime(error: Exception) -> bool:
    """Whether the database ended the transaction because it took too long; a smaller one may not."""
    return isinstance(error, _OVERTIME)


def may_pass(error: Exception) -> bool:
    """Whether the same act may succeed later: an outage, a conflict, a time limit, a generation that moved."""
    return isinstance(error, _PASSING) or is_outage(error) or is_conflict(error)


class Patience:
    """Repeats acts until they are possible, or until the process is asked to stop."""

    def __init__(self, stop: Stop, health: Health) -> None:
        self._stop = stop
        self._health = health

    def until_possible(self, act: Callable[[], T]) -> T:
        """The act's result. Raises Stopped when asked to stop, and whatever cannot pass."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            self._health.progress()
            try:
                done = act()
            except Exception as error:
                if not may_pass(error):
                    raise
                self._wait(error, pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            else:
                self._health.ready(True)
                return done

    def _wait(self, error: Exception, seconds: float) -> None:
        metrics.RETRIES.labels(type(error).__name__).inc()
        log.warning("apply.waits", error_type=type(error).__name__, seconds=seconds)
        self._health.ready(False, f"waits: {type(error).__name__}")
        if self._stop.wait(seconds):
            raise Stopped from error
