"""Settings: read once, named when missing, never shown when secret."""

from pathlib import Path

import pytest
from assay_runtime import settings
from assay_runtime.settings import EvidenceSettings, KafkaSettings, PostgresSettings, ProcessSettings
from pydantic import ValidationError


class Everything(ProcessSettings, PostgresSettings, KafkaSettings, EvidenceSettings):
    """A process that needs all parts."""


VARIABLES = {
    "ASSAY_DSN": "postgresql://u:hunter2@127.0.0.1/x",
    "ASSAY_KAFKA_BOOTSTRAP": "127.0.0.1:9092",
    "ASSAY_S3_ENDPOINT": "http://127.0.0.1:9000",
    "ASSAY_S3_ACCESS_KEY": "access",
    "ASSAY_S3_SECRET_KEY": "hunter2",
}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_a_process_reads_what_it_is_made_of(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("ASSAY_KAFKA_PREFIX", "demo.")
    found = settings.read(Everything)
    assert (found.kafka_prefix, found.s3_bucket, found.ops_port) == ("demo.", "evidence-private", 0)
    assert "hunter2" not in repr(found)


def test_missing_and_wrong_variables_are_named_without_their_values(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    environment.delenv("ASSAY_DSN")
    environment.setenv("ASSAY_OPS_PORT", "hunter2")
    with pytest.raises(SystemExit) as exit_:
        settings.read(Everything)
    said = capsys.readouterr().err
    assert exit_.value.code == settings.EXIT_CONFIGURATION
    assert "ASSAY_DSN" in said
    assert "ASSAY_OPS_PORT" in said
    assert "hunter2" not in said


@pytest.mark.parametrize("armed", [{"failpoints": "relay.after_publish=exit"}, {"failpoint_log": Path("reached")}])
def test_production_refuses_failpoints(armed: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="failpoints"):
        ProcessSettings.model_validate({"environment": "production", **armed})


@pytest.mark.parametrize("prefix", ["a b", "x\n", "é", "a" * 65])
def test_a_prefix_that_kafka_would_refuse_is_refused_here(prefix: str) -> None:
    with pytest.raises(ValidationError):
        KafkaSettings(kafka_bootstrap="127.0.0.1:1", kafka_prefix=prefix)
