"""A process waits for its database, refuses one that does not fit, and has its second port as long as it runs."""

import http.client
import signal
import threading
from collections.abc import Iterator

import pytest
from assay_cli.stack.databases import Database
from assay_runtime.errors import MigrationsMissing
from assay_runtime.health import Health
from assay_runtime.process import await_schema, running
from assay_runtime.settings import PostgresSettings, ProcessSettings
from assay_runtime.stop import SIGNALS, Stop
from pydantic import SecretStr

NOBODY = "postgresql://nobody@127.0.0.1:1/nothing"


def test_a_database_without_this_releases_tables_ends_the_process(empty_db: Database) -> None:
    settings = PostgresSettings(dsn=SecretStr(empty_db.dsn("assay_migrator")))
    with pytest.raises(MigrationsMissing):
        await_schema(settings, "assay_resolver", Stop(install=False), Health())


def test_a_database_that_is_away_is_waited_for_until_the_process_is_asked_to_stop() -> None:
    settings, stop, health = PostgresSettings(dsn=SecretStr(NOBODY)), Stop(install=False), Health()
    waiting = threading.Thread(target=await_schema, args=(settings, "assay_resolver", stop, health))
    waiting.start()
    assert waiting.is_alive()
    stop.set()
    waiting.join(30)
    assert not waiting.is_alive()


@pytest.fixture
def signals() -> Iterator[None]:
    """The handlers of this process, put back afterwards."""
    before = [(number, signal.getsignal(number)) for number in SIGNALS]
    yield
    for number, handler in before:
        signal.signal(number, handler)


@pytest.mark.usefixtures("signals")
def test_the_second_port_is_open_as_long_as_the_process_runs(capsys: pytest.CaptureFixture[str]) -> None:
    with running("test", ProcessSettings(ops_port=0)):
        line = next(line for line in capsys.readouterr().err.splitlines() if "process.started" in line)
        port = int(line.split('"port":')[1].split("}")[0].split(",")[0])
        assert _status(port) is not None
    assert _status(port) is None


def _status(port: int) -> int | None:
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/livez")
        return connection.getresponse().status
    except ConnectionRefusedError:
        return None
