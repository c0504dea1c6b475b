"""Where a small world stands: two databases, topics and a bucket of its own on the run's real parts."""

from dataclasses import dataclass, field
from uuid import UUID

from assay_cli.check.log import EVENTS, JOBS, topic_id_of
from assay_cli.check.sources import Offsets, read_offsets
from assay_cli.stack.databases import Database
from assay_cli.testing import Bucket
from assay_contracts.topics import TOPICS
from assay_runtime.kafka import ensure_topics
from assay_runtime.settings import EvidenceSettings, KafkaSettings
from pydantic import SecretStr

EPOCH = "history-1"
USED = (JOBS, EVENTS, f"{JOBS}.dlq", f"{EVENTS}.dlq")


@dataclass(frozen=True)
class Place:
    """An installation without processes."""

    resolver: Database
    product: Database
    kafka: KafkaSettings
    evidence: EvidenceSettings
    _topic_ids: dict[str, UUID] = field(default_factory=dict[str, UUID])
    _offsets: list[Offsets] = field(default_factory=list[Offsets])

    def topic_id(self, topic: str) -> UUID:
        """What the broker calls it."""
        if topic not in self._topic_ids:
            self._topic_ids[topic] = topic_id_of(self.kafka, topic)
        return self._topic_ids[topic]

    def offsets(self) -> Offsets:
        """How far every group has come, now that all is at rest."""
        if not self._offsets:
            self._offsets.append(read_offsets(self.kafka))
        return self._offsets[0]


def make_topics(bootstrap: str, prefix: str) -> KafkaSettings:
    """Empty topics under a prefix."""
    kafka = KafkaSettings(kafka_bootstrap=bootstrap, kafka_prefix=prefix)
    ensure_topics(kafka, [TOPICS[name] for name in USED], 1)
    return kafka


def evidence_settings(environment: dict[str, str]) -> EvidenceSettings:
    """The settings that an environment holds."""
    return EvidenceSettings(
        s3_endpoint=environment["ASSAY_S3_ENDPOINT"],
        s3_bucket=environment["ASSAY_S3_BUCKET"],
        s3_access_key=SecretStr(environment["ASSAY_S3_ACCESS_KEY"]),
        s3_secret_key=SecretStr(environment["ASSAY_S3_SECRET_KEY"]),
        s3_region=environment["ASSAY_S3_REGION"],
    )


def settings_of(bucket: Bucket) -> EvidenceSettings:
    """The settings that lead to a bucket."""
    return evidence_settings(bucket.settings)
