"""Three kinds of failure, because a loop can do three things."""

import psycopg
import pytest
from assay_runtime.errors import EvidenceMismatch, EvidenceMissing, EvidenceUnavailable, KafkaUnavailable
from assay_stages.errors import ArtifactMismatch, UnknownPin
from assay_stages.failures import GiveUp, TryAgain, Wait, classify
from psycopg_pool import PoolTimeout


@pytest.mark.parametrize(
    "error",
    [
        psycopg.OperationalError("the connection is lost"),
        psycopg.InterfaceError("the connection is closed"),
        psycopg.errors.AdminShutdown(),
        psycopg.errors.TooManyConnections(),
        psycopg.errors.DeadlockDetected(),
        psycopg.errors.SerializationFailure(),
        psycopg.errors.LockNotAvailable(),
        PoolTimeout("nobody gives one back"),
        EvidenceUnavailable("no route"),
        KafkaUnavailable("no broker"),
    ],
)
def test_what_is_away_burns_no_attempt(error: Exception) -> None:
    assert isinstance(classify(error), Wait)


def test_an_unknown_pin_is_given_up_at_once() -> None:
    assert classify(UnknownPin("pa_nobody@9.9.9")) == GiveUp("unknown_pin", "unknown pin: 'pa_nobody@9.9.9'")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (EvidenceMissing("r2://x"), "evidence_missing"),
        (EvidenceMismatch("other bytes"), "evidence_mismatch"),
        (ArtifactMismatch("shorter"), "evidence_mismatch"),
        (psycopg.errors.CheckViolation(), "database_refused"),
        (psycopg.errors.QueryCanceled(), "database_refused"),
        (ZeroDivisionError("division"), "unexpected"),
    ],
)
def test_everything_else_is_tried_again(error: Exception, reason: str) -> None:
    failure = classify(error)
    assert isinstance(failure, TryAgain)
    assert failure.reason == reason
    assert type(error).__name__ in failure.cause
