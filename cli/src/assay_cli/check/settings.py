"""Where the checker looks when the environment names an installation."""

import os

from assay_runtime.settings import EvidenceSettings, KafkaSettings, read
from pydantic import SecretStr


class CheckSettings(KafkaSettings, EvidenceSettings):
    """Both databases under a role that reads every row and writes none, the broker and the bucket."""

    resolver_dsn: SecretStr
    product_dsn: SecretStr


def from_environment() -> CheckSettings | None:
    """The installation that ASSAY_RESOLVER_DSN or ASSAY_PRODUCT_DSN begins to name; none of them: None."""
    if not os.environ.keys() & {"ASSAY_RESOLVER_DSN", "ASSAY_PRODUCT_DSN"}:
        return None
    return read(CheckSettings)
