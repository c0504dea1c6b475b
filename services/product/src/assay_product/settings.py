"""The environment of the product's processes, as typed values."""

from assay_runtime.settings import HttpSettings, KafkaSettings, KeySettings, PostgresSettings, ProcessSettings
from pydantic import Field, SecretStr


class ApplySettings(ProcessSettings, PostgresSettings, KafkaSettings):
    """`apply`: events of one history epoch, in batches of at most `batch_events`."""

    history_epoch: str = Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")
    batch_events: int = Field(default=1_000, ge=1, le=10_000)
    pool_max: int = Field(default=3, ge=1)
    retention_url: str = Field(default="", pattern=r"^(https?://\S+)?$")
    """The relay's API; where none is named, progress is reported to nobody, and pruning does not wait for it."""
    retention_key: SecretStr = SecretStr("")
    retention_report_seconds: float = Field(default=2.0, gt=0)


class ApiSettings(ProcessSettings, PostgresSettings, HttpSettings, KeySettings):
    """`api`: what is read, for whoever has a key."""
