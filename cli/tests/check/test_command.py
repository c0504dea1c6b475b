"""`assay check` as a person or a program meets it."""

import json
from collections.abc import Iterator

import psycopg
import pytest
from assay_cli.check.violations import all_rules
from assay_cli.main import app
from typer.testing import CliRunner

from .place import Place

SEEDED = "UPDATE cursor SET halted = 'a test' WHERE tenant_id = 'ten_two'"
UNSEEDED = "UPDATE cursor SET halted = NULL"


@pytest.fixture
def environment(world: Place) -> dict[str, str]:
    return {
        "ASSAY_RESOLVER_DSN": world.resolver.dsn("assay_checker"),
        "ASSAY_PRODUCT_DSN": world.product.dsn("assay_checker"),
        "ASSAY_KAFKA_BOOTSTRAP": world.kafka.kafka_bootstrap,
        "ASSAY_KAFKA_PREFIX": world.kafka.kafka_prefix,
        "ASSAY_S3_ENDPOINT": world.evidence.s3_endpoint,
        "ASSAY_S3_BUCKET": world.evidence.s3_bucket,
        "ASSAY_S3_ACCESS_KEY": world.evidence.s3_access_key.get_secret_value(),
        "ASSAY_S3_SECRET_KEY": world.evidence.s3_secret_key.get_secret_value(),
    }


@pytest.fixture
def halted(world: Place) -> Iterator[None]:
    """A stream is halted, for everyone, as long as the test lasts."""
    with psycopg.connect(world.product.admin_dsn, autocommit=True) as connection:
        connection.execute(SEEDED)
        yield
        connection.execute(UNSEEDED)


def test_a_healthy_installation_exits_0_and_says_how_many_rules_hold(environment: dict[str, str]) -> None:
    result = CliRunner().invoke(app, ["check"], env=environment)
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == f"Nothing found: {len(all_rules())} rules hold."


@pytest.mark.usefixtures("halted")
def test_a_violation_exits_1_and_is_shown(environment: dict[str, str]) -> None:
    result = CliRunner().invoke(app, ["check"], env=environment)
    assert result.exit_code == 1
    assert "i15_stream_halted" in result.stdout


@pytest.mark.usefixtures("halted")
def test_programs_get_violations_as_json(environment: dict[str, str]) -> None:
    result = CliRunner().invoke(app, ["check", "--json"], env=environment)
    assert result.exit_code == 1
    subject = "ten_two/cat_main#1 a test"
    assert json.loads(result.stdout)["violations"] == [
        {"invariant": "I15", "rule": "i15_stream_halted", "subject": subject}
    ]


def test_what_cannot_be_read_is_said_in_words(environment: dict[str, str]) -> None:
    away = {"ASSAY_PRODUCT_DSN": "postgresql://nobody@127.0.0.1:1/nothing"}
    result = CliRunner().invoke(app, ["check"], env=environment | away)
    assert result.exit_code == 1
    assert "nothing is known" in result.stderr


def test_half_an_installation_names_what_is_missing() -> None:
    result = CliRunner().invoke(app, ["check"], env={"ASSAY_RESOLVER_DSN": "postgresql://x"})
    assert result.exit_code == 78
