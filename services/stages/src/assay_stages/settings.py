"""What a stage reads from its environment."""

from assay_runtime.settings import EvidenceSettings, KafkaSettings, PostgresSettings, ProcessSettings
from pydantic import Field


class StageSettings(ProcessSettings, PostgresSettings, KafkaSettings):
    """Every stage's. The defaults of the group are for production; tests shorten them."""

    stages_concurrency: int = Field(default=8, ge=1)
    """Jobs at work at once, each of another tenant; no more than the pool has connections."""
    stages_table: bool = True
    """Whether the table of done jobs saves questions to Postgres; nothing else depends on it."""
    stages_replication: int = Field(default=1, ge=1)
    """Replicas of the table's changelog topic: 3 in production."""
    stages_instance: str = ""
    """A name that this process keeps over restarts and no other one of its stage has, such as its pod's: a restart
    then takes its partitions back at once, where otherwise the group waits for the session of the dead one to end."""
    stages_session_seconds: float = Field(default=30.0, gt=0)
    """How long the group waits for a silent member."""
    stages_heartbeat_seconds: float = Field(default=3.0, gt=0)
    stages_rebalance_seconds: float = Field(default=60.0, gt=0)
    """How long the group waits for members to finish what they began."""
    stages_stuck_seconds: float = Field(default=90.0, gt=0)
    """A rebalance that takes longer ends the process; more than the above."""
    stages_grace_seconds: float = Field(default=25.0, gt=0)
    """A stop that takes longer ends the process; less than the supervisor's patience."""
    stages_reader_seconds: float = Field(default=60.0, gt=0)
    """A parser that takes longer ends the process."""


class ExtractSettings(StageSettings, EvidenceSettings):
    """The stage that reads evidence."""
