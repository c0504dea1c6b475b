"""The environment of the relay's processes."""

from assay_runtime.settings import KafkaSettings, PostgresSettings, ProcessSettings
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
