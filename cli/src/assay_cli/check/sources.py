"""What the checker reads: both databases as the role that only reads, the topics, and the evidence bucket."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from assay_runtime.settings import EvidenceSettings, KafkaSettings
from psycopg.rows import TupleRow


@dataclass(frozen=True, slots=True)
class Sources:
    """Open connections and settings; the databases are each read in one snapshot."""

    resolver: psycopg.Connection[TupleRow]
    product: psycopg.Connection[TupleRow]
    kafka: KafkaSettings
    evidence: EvidenceSettings


@contextmanager
def open_sources(
    resolver_dsn: str, product_dsn: str, kafka: KafkaSettings, evidence: EvidenceSettings
) -> Generator[Sources]:
    """Connect to all, product first: the resolver's snapshot then holds everything that product's rests on."""
    with _snapshot(product_dsn) as product, _snapshot(resolver_dsn) as resolver:
        yield Sources(resolver, product, kafka, evidence)


@contextmanager
def _snapshot(dsn: str) -> Generator[psycopg.Connection[TupleRow]]:
    with psycopg.connect(dsn) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        connection.execute("SELECT 1")
        yield connection
