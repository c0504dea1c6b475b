"""What intake reads from its environment."""

from pathlib import Path
from typing import Annotated

from assay_runtime.settings import (
    EvidenceSettings,
    HttpSettings,
    KafkaSettings,
    KeySettings,
    PostgresSettings,
    ProcessSettings,
)
from pydantic import Field

MEBIBYTE = 1 << 20

Bytes = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]


class IntakeSettings(ProcessSettings, PostgresSettings, KafkaSettings, EvidenceSettings, HttpSettings, KeySettings):
    """The database, broker and bucket of one installation, and what one client or one process may take of the disk."""

    max_artifact_bytes: Bytes = 64 * MEBIBYTE
    max_body_bytes: Bytes = 256 * MEBIBYTE
    spool_dir: Path | None = None
    spool_bytes: Bytes = 1024 * MEBIBYTE
    upload_seconds: Seconds = 300.0
    silence_seconds: Seconds = 15.0
    http_docs: bool = False
