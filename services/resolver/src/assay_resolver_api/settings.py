"""What the resolver's API reads from its environment."""

from assay_runtime.settings import (
    EvidenceSettings,
    HttpSettings,
    KeySettings,
    PostgresSettings,
    ProcessSettings,
    WitnessSettings,
)


class ApiSettings(ProcessSettings, PostgresSettings, WitnessSettings, EvidenceSettings, HttpSettings, KeySettings):
    """The resolver database, the bucket for people's statements, and whether the browsable pages are shown."""

    http_docs: bool = False
