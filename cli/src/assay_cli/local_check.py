"""The checker over an installation of the local stack."""

from collections.abc import Callable

from assay_runtime.settings import EvidenceSettings, KafkaSettings
from pydantic import SecretStr

from assay_cli.check import Violation, check
from assay_cli.check.sources import open_sources
from assay_cli.stack.installation import BUCKET, Installation

ROLE = "assay_checker"


def check_installation(place: Installation, on_step: Callable[[str], None] = lambda _: None) -> list[Violation]:
    """Every violation that can be seen in the installation now."""
    evidence = place.evidence(BUCKET)
    with open_sources(
        place.database("resolver").dsn(ROLE),
        place.database("product").dsn(ROLE),
        KafkaSettings(kafka_bootstrap=place.kafka.bootstrap),
        EvidenceSettings(
            s3_endpoint=evidence["ASSAY_S3_ENDPOINT"],
            s3_bucket=evidence["ASSAY_S3_BUCKET"],
            s3_access_key=SecretStr(evidence["ASSAY_S3_ACCESS_KEY"]),
            s3_secret_key=SecretStr(evidence["ASSAY_S3_SECRET_KEY"]),
            s3_region=evidence["ASSAY_S3_REGION"],
        ),
    ) as sources:
        return check(sources, on_step)
