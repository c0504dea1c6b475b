"""Each process is given its own database, role, ports and secrets, and no other's."""

from pathlib import Path

import psycopg
from assay_cli.stack import Stack, installation
from assay_cli.stack.databases import Database
from assay_cli.stack.layout import Layout
from assay_cli.stack.processes import PROCESSES


def test_no_two_processes_share_a_port(tmp_path: Path) -> None:
    place = installation.settle(Layout(tmp_path))
    assert len(set(place.ports.values())) == len(installation.port_names())


def test_secrets_are_made_once_and_are_the_owner_s_alone(tmp_path: Path) -> None:
    first = installation.settle(Layout(tmp_path)).credentials
    assert installation.existing(Layout(tmp_path)).credentials == first
    assert (tmp_path / "secrets.json").stat().st_mode & 0o077 == 0
    assert first.of_role("assay_intake") != first.of_role("assay_stages")
    assert first.root not in repr(first)


def test_a_process_sees_only_the_settings_it_needs(tmp_path: Path) -> None:
    place = installation.settle(Layout(tmp_path))
    relay = place.environment(PROCESSES["relay-events"], "history-1")
    assert "assay_relay_events" in relay["ASSAY_DSN"]
    assert not any(name.startswith("ASSAY_S3") or name == "ASSAY_KEY_PEPPER" for name in relay)
    apply = place.environment(PROCESSES["apply"], "history-1")
    assert apply["ASSAY_DSN"].endswith("/product")
    assert apply["ASSAY_HISTORY_EPOCH"] == "history-1"


def test_an_override_reaches_one_process_alone(tmp_path: Path) -> None:
    stack = Stack(tmp_path)
    installation.settle(stack.layout)
    stack.override("extract", ASSAY_FAILPOINTS="a=exit")
    environments = {name: stack.installation.environment(PROCESSES[name], "h") for name in ("extract", "normalize")}
    assert environments["extract"]["ASSAY_FAILPOINTS"] == "a=exit"
    assert "ASSAY_FAILPOINTS" not in environments["normalize"]


def test_every_process_can_log_in_to_its_database(resolver_db: Database, product_db: Database) -> None:
    held = {"resolver": resolver_db, "product": product_db}
    for process in PROCESSES.values():
        with psycopg.connect(held[process.database].dsn(process.role)) as connection:
            assert connection.execute("SELECT current_user").fetchone() == (process.role,)
