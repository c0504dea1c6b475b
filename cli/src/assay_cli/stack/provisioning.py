"""What the services need to find before they start: the bucket, both databases as the code wants them, every topic."""

import time
from collections.abc import Callable

import httpx
import psycopg
from assay_contracts.topics import TOPICS
from assay_runtime.errors import AssayRuntimeError, KafkaUnavailable
from assay_runtime.kafka import ensure_topics, make_consumer
from assay_runtime.settings import KafkaSettings
from confluent_kafka import KafkaException, TopicPartition

from assay_cli.stack import databases, service_keys
from assay_cli.stack.errors import NotReady
from assay_cli.stack.installation import BUCKET, Installation
from assay_cli.stack.s3 import create_bucket

_TRIES = 5
_PAUSE_SECONDS = 1.0
_COORDINATOR_SECONDS = 20.0


def lay_out(place: Installation) -> str:
    """Create or update everything, and return the open history epoch; a part that just died is waited for."""
    _try("the evidence bucket", lambda: create_bucket(place.s3.endpoint, BUCKET))
    for kind in databases.MIGRATIONS:
        _try(f"the {kind} database", lambda kind=kind: databases.provision(place.postgres, place.credentials, kind))
    _try("the service keys", lambda: service_keys.provide(place.layout, place.credentials, place.database("resolver")))
    _try("the topics", lambda: _create_topics(place.kafka.bootstrap))
    return databases.open_epoch(place.database("resolver"))


def _try(what: str, act: Callable[[], object]) -> None:
    for left in reversed(range(_TRIES)):
        try:
            act()
        except (psycopg.OperationalError, httpx.TransportError, KafkaUnavailable) as outage:
            if left == 0:
                raise NotReady(f"{what} could not be prepared: {outage}") from outage
            time.sleep(_PAUSE_SECONDS)
        except (psycopg.Error, httpx.HTTPError, AssayRuntimeError) as failure:
            raise NotReady(f"{what} could not be prepared: {failure}") from failure
        else:
            return


def _create_topics(bootstrap: str) -> None:
    settings = KafkaSettings(kafka_bootstrap=bootstrap)
    ensure_topics(settings, TOPICS.values(), replication=1)
    _wake_group_coordinator(settings)


def _wake_group_coordinator(settings: KafkaSettings) -> None:
    """A new broker makes its offsets topic when first asked for a group, and clients that ask meanwhile wait long."""
    consumer = make_consumer(settings, "assay.up")
    try:
        consumer.committed([TopicPartition(next(iter(TOPICS)), 0)], timeout=_COORDINATOR_SECONDS)
    except KafkaException as refusal:
        raise KafkaUnavailable(str(refusal)) from refusal
    finally:
        consumer.close()
