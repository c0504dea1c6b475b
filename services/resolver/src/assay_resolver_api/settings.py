"""What the resolver's API reads from its environment."""

from assay_runtime.settings import EvidenceSettings, HttpSettings, KeySettings, PostgresSettings, ProcessSettings


class ApiSettings(ProcessSettings, PostgresSettings, EvidenceSettings, HttpSettings, KeySettings):
    """The resolver database, the bucket for people's statements, and whether the browsable pages are shown."""

    http_docs: bool = False
