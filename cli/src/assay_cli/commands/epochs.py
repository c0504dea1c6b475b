"""`assay epochs`: the incarnations of the history."""

from typing import Annotated

import psycopg
import typer
from assay_runtime.errors import EvidenceUnavailable
from assay_runtime.settings import EvidenceSettings, KafkaSettings
from pydantic import SecretStr
from rich.console import Console

from assay_cli import advancing
from assay_cli.client import connect_to_relay
from assay_cli.commands.failures import in_words
from assay_cli.commands.output import AsJson, print_json, rows_of, table_of
from assay_cli.errors import CommandError
from assay_cli.stack import Stack
from assay_cli.stack.installation import Installation

epochs = typer.Typer(help="Incarnations of the whole history.", no_args_is_help=True)


@epochs.command(name="list")
@in_words
def list_epochs(as_json: AsJson = False) -> None:
    """List all, oldest first; only what belongs to the open one takes effect."""
    with connect_to_relay() as client:
        found = client.get("relay-api", "/v1/epochs")
    if as_json:
        print_json(found)
    else:
        Console().print(table_of("history epochs", rows_of(found["epochs"])))


@epochs.command()
@in_words
def advance(because: Annotated[str, typer.Option("--because", help="Why; kept for ever.")]) -> None:
    """Begin a new history after a restore of the resolver database; every process must be started again after it."""
    console = Console(stderr=True)
    place = Stack().installation
    dsn = place.database("resolver").dsn("assay_operator")
    kafka = KafkaSettings(kafka_bootstrap=place.kafka.bootstrap)
    try:
        epoch = advancing.advance(dsn, kafka, _bucket(place), because, lambda step: console.print(f"{step} …"))
    except (psycopg.OperationalError, EvidenceUnavailable) as failure:
        raise CommandError(f"not everything can be reached: {failure}; run this again") from failure
    console.print(f"{epoch.name} is open. Restart everything: `assay down`, then `assay up`.")


def _bucket(place: Installation) -> EvidenceSettings:
    named = place.evidence()
    return EvidenceSettings(
        s3_endpoint=named["ASSAY_S3_ENDPOINT"],
        s3_bucket=named["ASSAY_S3_BUCKET"],
        s3_access_key=SecretStr(named["ASSAY_S3_ACCESS_KEY"]),
        s3_secret_key=SecretStr(named["ASSAY_S3_SECRET_KEY"]),
        s3_region=named["ASSAY_S3_REGION"],
    )


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(epochs, name="epochs")
