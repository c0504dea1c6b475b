"""The environment of the relay's processes."""

from assay_runtime.settings import (
    EvidenceSettings,
    HttpSettings,
    KafkaSettings,
    KeySettings,
    PostgresSettings,
    ProcessSettings,
    WitnessSettings,
)
from pydantic import Field


class EventsSettings(ProcessSettings, PostgresSettings, KafkaSettings):
    """`python -m assay_relay events`."""

    relay_lease_seconds: float = Field(default=3.0, ge=0.3)
    relay_batch_events: int = Field(default=1000, ge=1)
    relay_batches_in_flight: int = Field(default=4, ge=1)
    relay_busy_seconds: float = Field(default=0.002, gt=0)
    relay_idle_seconds: float = Field(default=0.05, gt=0)
    relay_partitions_ahead: int = Field(default=3, ge=1)
    relay_stop_seconds: float = Field(default=5.0, gt=0)


class JobsSettings(ProcessSettings, PostgresSettings, KafkaSettings):
    """`python -m assay_relay jobs`."""

    sweep_seconds: float = Field(default=0.5, gt=0)
    sweep_grace_seconds: float = Field(default=2.0, ge=0)
    sweep_claim_seconds: float = Field(default=30.0, gt=0)
    sweep_batch: int = Field(default=500, ge=1)
    sweep_log_seconds: float = Field(default=2.0, gt=0)


class PruneSettings(ProcessSettings, PostgresSettings, WitnessSettings):
    """`python -m assay_relay prune`."""

    retention_seconds: float = Field(default=7 * 86_400.0, ge=0)
    """How old an event must be before it may go, however far its readers are."""
    prune_seconds: float = Field(default=5.0, gt=0)
    prune_batch_events: int = Field(default=10_000, ge=1)
    prune_keep_rows: int = Field(default=50_000, ge=0)
    """Rows of laggards that are copied out of a partition at most, so that it can go."""
    prune_lock_milliseconds: int = Field(default=500, ge=1)
    consumer_silent_seconds: float = Field(default=900.0, gt=0)


class ApiSettings(ProcessSettings, PostgresSettings, WitnessSettings, EvidenceSettings, HttpSettings, KeySettings):
    """`python -m assay_relay api`."""

    http_docs: bool = False
    lease_seconds_most: float = Field(default=86_400.0, gt=0)
    snapshot_seconds: float = Field(default=1_800.0, gt=0)
    """How long the one transaction that writes a snapshot may take."""
