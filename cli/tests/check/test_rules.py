"""No rule without a wrong that proves it, and no row that the checker's own role cannot see."""

import psycopg
import pytest
from assay_cli.check import check, open_sources
from assay_cli.check.log import LogUnreadable
from assay_cli.check.violations import all_rules, invariant_of
from assay_cli.stack.databases import Database
from assay_runtime.settings import KafkaSettings

from . import seeds_across, seeds_product, seeds_resolver, test_seeds_in_bucket, test_seeds_in_topics
from .place import Place

TABLES = (
    b"SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')"
    b" AND NOT c.relispartition"
)


def test_every_rule_has_a_seeded_wrong() -> None:
    seeded = {(seed.decider, seed.rule) for module in _SQL_SEEDS for seed in module.SEEDS}
    seeded |= {("python", seed.rule) for seed in test_seeds_in_topics.SEEDS}
    seeded |= {("python", rule) for rule, _ in test_seeds_in_bucket.SEEDS}
    seeded |= {("python", "i5_partition_count_changed")}
    assert seeded == set(all_rules())


_SQL_SEEDS = (seeds_resolver, seeds_product, seeds_across)


def test_rules_are_about_the_invariants_that_rows_logs_and_bytes_can_show() -> None:
    about = {invariant_of(rule) for _, rule in all_rules()}
    assert {"I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I10", "I11", "I14"} <= about
    assert about <= {*(f"I{number}" for number in range(1, 16)), "MODEL"}


def test_the_checkers_role_sees_every_row(world: Place) -> None:
    for database in (world.resolver, world.product):
        assert _counts(database, database.dsn("assay_checker")) == _counts(database, database.admin_dsn)


def _counts(database: Database, dsn: str) -> dict[str, int]:
    with psycopg.connect(database.admin_dsn) as connection:
        tables = [name for (name,) in connection.execute(TABLES)]
    with psycopg.connect(dsn) as connection:
        rows = {name: connection.execute(f"SELECT count(*) FROM {name}".encode()).fetchone() for name in tables}
    return {name: row[0] for name, row in rows.items() if row is not None}


def test_a_topic_that_is_absent_is_no_clean_bill(world: Place) -> None:
    absent = KafkaSettings(kafka_bootstrap=world.kafka.kafka_bootstrap, kafka_prefix="no-such-installation.")
    dsns = (world.resolver.dsn("assay_checker"), world.product.dsn("assay_checker"))
    with open_sources(*dsns, absent, world.evidence) as sources, pytest.raises(LogUnreadable):
        check(sources)
