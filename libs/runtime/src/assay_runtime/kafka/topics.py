"""Topics as their files describe them: made when absent, never changed, known by the id that the broker gave."""

import base64
import logging
import time
import uuid
from collections.abc import Iterable, Mapping, Set
from concurrent.futures import Future
from typing import Protocol, cast

from assay_contracts.topics import Topic
from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient, NewTopic, TopicDescription  # pyright: ignore[reportPrivateImportUsage] - documented there

from assay_runtime.errors import KafkaUnavailable, TopicMismatch
from assay_runtime.kafka.clients import physical
from assay_runtime.settings import KafkaSettings

ADMIN_SECONDS = 15.0
_PAUSE_SECONDS = 0.02

_librdkafka = logging.getLogger("librdkafka")
_UNREACHABLE = frozenset(
    {"_ALL_BROKERS_DOWN", "_RESOLVE", "_TIMED_OUT", "_TRANSPORT", "NETWORK_EXCEPTION", "REQUEST_TIMED_OUT"}
)


def topic_ids(settings: KafkaSettings, topics: Iterable[str]) -> dict[str, uuid.UUID]:
    """The ids that the broker gave to these topics; one that is lost and made again has another id.

    Topics that do not exist are absent from the answer. Blocks for at most ADMIN_SECONDS, else KafkaUnavailable.
    """
    names = {physical(settings, topic): topic for topic in topics}
    described = _describe(_admin(settings), names.keys())
    return {names[name]: _uuid_of(description) for name, description in described.items()}


def ensure_topics(settings: KafkaSettings, topics: Iterable[Topic], replication: int) -> list[str]:
    """Make the topics that are absent and return their names, once the broker that answers knows them all.

    One that has another partition count is a TopicMismatch.
    """
    wanted = {physical(settings, topic.name): topic for topic in topics}
    admin = _admin(settings)
    requests = [_new_topic(name, topic, replication) for name, topic in wanted.items()]
    answers = admin.create_topics(requests, operation_timeout=ADMIN_SECONDS, request_timeout=ADMIN_SECONDS)
    made = [name for name, answer in answers.items() if not _refused_as("TOPIC_ALREADY_EXISTS", answer)]
    for name, description in _describe_all(admin, wanted.keys()).items():
        _check_partitions(name, len(description.partitions), wanted[name].partitions)
    return [wanted[name].name for name in made]


class _Admin(Protocol):
    """The two calls of AdminClient that topics need, typed where confluent_kafka leaves their futures open."""

    def describe_topics(
        self, topics: TopicCollection, *, request_timeout: float
    ) -> Mapping[str, Future[TopicDescription]]: ...

    def create_topics(
        self, new_topics: list[NewTopic], *, operation_timeout: float, request_timeout: float
    ) -> Mapping[str, Future[None]]: ...


def _admin(settings: KafkaSettings) -> _Admin:
    client = AdminClient({"bootstrap.servers": settings.kafka_bootstrap}, logger=_librdkafka)
    return cast("_Admin", client)


def _new_topic(name: str, topic: Topic, replication: int) -> NewTopic:
    """A message's size limit is not the topic's `max.message.bytes`, which bounds a whole batch of messages."""
    return NewTopic(
        name,
        num_partitions=topic.partitions,
        replication_factor=replication,
        config={
            "retention.ms": str(topic.retention_ms),
            "cleanup.policy": topic.cleanup,
            "min.insync.replicas": str(min(2, replication)),
            "unclean.leader.election.enable": "false",
        },
    )


def _describe(admin: _Admin, names: Set[str]) -> dict[str, TopicDescription]:
    answers = admin.describe_topics(TopicCollection(list(names)), request_timeout=ADMIN_SECONDS)
    known = {name: answer for name, answer in answers.items() if not _refused_as("UNKNOWN_TOPIC_OR_PART", answer)}
    return {name: answer.result() for name, answer in known.items()}


def _describe_all(admin: _Admin, names: Set[str]) -> dict[str, TopicDescription]:
    """Wait for all: the controller makes a topic a moment before brokers know of it."""
    deadline = time.monotonic() + ADMIN_SECONDS
    while len(described := _describe(admin, names)) < len(names):
        if time.monotonic() > deadline:
            raise KafkaUnavailable(f"no broker knows {', '.join(sorted(names - described.keys()))}")
        time.sleep(_PAUSE_SECONDS)
    return described


def _check_partitions(name: str, found: int, expected: int) -> None:
    if found != expected:
        raise TopicMismatch(f"{name} has {found} partitions, its file says {expected}")


def _uuid_of(description: TopicDescription) -> uuid.UUID:
    text = str(description.topic_id).replace("-", "+").replace("_", "/")
    return uuid.UUID(bytes=base64.b64decode(text + "=="))


def _refused_as(code: str, answer: Future[TopicDescription] | Future[None]) -> bool:
    """Wait for the answer: True if it is this refusal, False if it is a result, else raises."""
    try:
        answer.result()
    except KafkaException as error:
        return _classify(error, code)
    return False


def _classify(error: KafkaException, code: str) -> bool:
    found = cast("KafkaError", error.args[0]).name()
    if found in _UNREACHABLE:
        raise KafkaUnavailable(str(error)) from error
    if found != code:
        raise error
    return True
