"""The frame of every process: logs, failpoints, signals, the second port, and the wait for a database that fits."""

from collections.abc import Generator
from contextlib import contextmanager

import psycopg

from assay_runtime import failpoints, logs, migrations
from assay_runtime.health import Health, OpsServer
from assay_runtime.settings import PostgresSettings, ProcessSettings
from assay_runtime.stop import Stop

RETRY_SECONDS = 1.0

log = logs.get_logger()


@contextmanager
def running(name: str, settings: ProcessSettings) -> Generator[tuple[Stop, Health]]:
    """Everything that a process has before its own work; the second port closes with the block."""
    logs.setup(name, settings.log_level)
    failpoints.arm(settings.failpoints, settings.failpoint_log)
    stop, health = Stop(), Health()
    ops = OpsServer(settings.ops_host, settings.ops_port, health)
    log.info("process.started", port=ops.port)
    try:
        yield stop, health
    finally:
        ops.close()


def await_schema(settings: PostgresSettings, package: str, stop: Stop, health: Health) -> None:
    """Wait until the database answers or `stop`; one without this release's tables of `package` ends the process."""
    while not stop.is_set():
        try:
            return migrations.require(settings.dsn, package)
        except psycopg.OperationalError as error:
            health.ready(False, "the database does not answer")
            log.warning("database.unavailable", error_type=type(error).__name__)
            stop.wait(RETRY_SECONDS)
    return None
