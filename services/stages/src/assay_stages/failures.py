"""What a failed delivery means: wait for what is away, give up on the message, or try again later."""

from dataclasses import dataclass

import psycopg
from assay_runtime.errors import EvidenceMismatch, EvidenceMissing, EvidenceUnavailable, KafkaUnavailable
from assay_runtime.postgres import constraint_of, is_conflict, is_outage

from assay_stages.errors import ArtifactMismatch, Reason, UnknownPin


@dataclass(frozen=True, slots=True)
class Wait:
    """A dependency is away, or another transaction is in the way: hold the message and repeat, burning no attempt."""

    why: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    """No attempt can succeed."""

    reason: Reason
    cause: str


@dataclass(frozen=True, slots=True)
class TryAgain:
    """Another attempt may succeed; after the last one `reason` and `cause` go with the dead letter."""

    reason: Reason
    cause: str


Failure = Wait | GiveUp | TryAgain


def classify(error: Exception) -> Failure:
    """Name the failure. An answer to COMMIT that never came is a Wait: asking again tells what became of it."""
    if is_outage(error):
        return Wait("the database is away")
    if is_conflict(error) or isinstance(error, psycopg.errors.LockNotAvailable):
        return Wait("another transaction holds the rows")
    if isinstance(error, EvidenceUnavailable):
        return Wait("the evidence store is away")
    if isinstance(error, KafkaUnavailable):
        return Wait("Kafka is away")
    if isinstance(error, UnknownPin):
        return GiveUp("unknown_pin", str(error))
    return TryAgain(_reason(error), _cause(error))


def _reason(error: Exception) -> Reason:
    if isinstance(error, EvidenceMissing):
        return "evidence_missing"
    if isinstance(error, EvidenceMismatch | ArtifactMismatch):
        return "evidence_mismatch"
    return "database_refused" if isinstance(error, psycopg.Error) else "unexpected"


def _cause(error: Exception) -> str:
    """The error's type and message; of a database error no row values."""
    if isinstance(error, psycopg.Error):
        return f"{type(error).__name__}: {constraint_of(error) or error.diag.message_primary or ''}"
    return f"{type(error).__name__}: {error}"
