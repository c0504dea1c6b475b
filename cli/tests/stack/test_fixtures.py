"""What the repository's fixtures promise to every other test."""

import psycopg
from assay_cli.stack import kafka
from assay_cli.stack.databases import Database
from assay_cli.testing import Bucket


def test_a_test_database_is_migrated_and_opens_to_its_roles(resolver_db: Database) -> None:
    with psycopg.connect(resolver_db.dsn("assay_intake")) as connection:
        assert connection.execute("SELECT current_user, count(*) FROM receipt").fetchone() == ("assay_intake", 0)


def test_a_test_database_is_one_test_s_own(resolver_db: Database, empty_db: Database) -> None:
    assert resolver_db.name != empty_db.name
    with psycopg.connect(empty_db.admin_dsn) as connection:
        assert connection.execute("SELECT to_regclass('receipt')").fetchone() == (None,)


def test_the_test_broker_answers(kafka_bootstrap: str, kafka_prefix: str) -> None:
    assert kafka.not_ready(kafka_bootstrap) is None
    assert kafka_prefix.startswith("test-the-test-broker-ans")


def test_a_test_bucket_is_empty(evidence_bucket: Bucket) -> None:
    assert evidence_bucket.settings["ASSAY_S3_BUCKET"] == evidence_bucket.name
