"""The one place where a process's environment becomes typed values; each service composes what it needs."""

import sys
from pathlib import Path
from typing import Literal, NoReturn, TypeVar

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

EXIT_CONFIGURATION = 78
"""EX_CONFIG of sysexits.h: a supervisor need not hurry to restart what is configured wrongly."""

Environment = Literal["development", "test", "production"]
LogLevel = Literal["debug", "info", "warning", "error"]


class AssayEnvironment(BaseSettings):
    """Reads variables that begin with ASSAY_ and ignores those of other processes."""

    model_config = SettingsConfigDict(env_prefix="ASSAY_", extra="ignore", frozen=True)


class ProcessSettings(AssayEnvironment):
    """What every process has: the second port, logs, and failpoints that production refuses."""

    environment: Environment = "development"
    log_level: LogLevel = "info"
    ops_host: str = "127.0.0.1"
    ops_port: int = Field(default=0, ge=0, le=65535)
    failpoints: str = ""
    failpoint_log: Path | None = None

    @model_validator(mode="after")
    def _no_failpoints_in_production(self) -> "ProcessSettings":
        if self.environment == "production" and (self.failpoints or self.failpoint_log):
            raise ValueError("failpoints are for tests and refused in production")
        return self


class PostgresSettings(AssayEnvironment):
    """One database under one role."""

    dsn: SecretStr
    pool_min: int = Field(default=1, ge=0)
    pool_max: int = Field(default=8, ge=1)


class KafkaSettings(AssayEnvironment):
    """One broker list; the prefix lets several installations share it."""

    kafka_bootstrap: str
    kafka_prefix: str = Field(default="", pattern="^[a-zA-Z0-9._-]*$", max_length=64)


class WitnessSettings(KafkaSettings):
    """Of a process that needs Kafka for nothing but the history witness; without a broker list it goes unwatched."""

    kafka_bootstrap: str = ""


class EvidenceSettings(AssayEnvironment):
    """One S3 bucket, which the logical name in references stands for."""

    s3_endpoint: str
    s3_bucket: str = "evidence-private"
    s3_access_key: SecretStr
    s3_secret_key: SecretStr
    s3_region: str = "us-east-1"


class HttpSettings(AssayEnvironment):
    """The public port of an API."""

    http_host: str = "127.0.0.1"
    http_port: int = Field(default=0, ge=0, le=65535)


class KeySettings(AssayEnvironment):
    """The pepper of all API keys; without it stored MACs are worth nothing to a thief."""

    key_pepper: SecretStr = Field(min_length=16)


S = TypeVar("S", bound=BaseSettings)


def read(settings: type[S]) -> S:
    """Read the environment, or name every missing and wrong variable (never its value) and exit with 78."""
    try:
        return settings.model_validate({})
    except ValidationError as error:
        _explain(error)


def _explain(error: ValidationError) -> NoReturn:
    for problem in error.errors(include_url=False, include_input=False, include_context=False):
        name = "_".join(str(part) for part in problem["loc"]).upper()
        sys.stderr.write(f"ASSAY_{name}: {problem['msg']}\n" if name else f"settings: {problem['msg']}\n")
    raise SystemExit(EXIT_CONFIGURATION)
