"""Runs one process of the resolver by its name: `python -m assay_resolver_api api`."""

import asyncio
import sys

import psycopg
from assay_runtime import failpoints, logs, migrations
from assay_runtime.evidence import EvidenceStore
from assay_runtime.health import Health, OpsServer
from assay_runtime.http import serve
from assay_runtime.postgres import open_async_pool
from assay_runtime.settings import EXIT_CONFIGURATION, read
from assay_runtime.stop import Stop

from assay_resolver_api.api import build_app
from assay_resolver_api.context import Context
from assay_resolver_api.settings import ApiSettings

PROCESS = "resolver-api"
RETRY_SECONDS = 1.0

log = logs.get_logger()


async def run(settings: ApiSettings, stop: Stop, health: Health) -> None:
    """Serve until asked to stop; requests under way end first."""
    await asyncio.to_thread(await_schema, settings, stop, health)
    pool = await open_async_pool(settings.dsn, settings.pool_min, settings.pool_max, PROCESS)
    async with pool, EvidenceStore(settings) as bucket:
        await serve(build_app(settings, Context(pool, bucket)), settings, stop, health)


def await_schema(settings: ApiSettings, stop: Stop, health: Health) -> None:
    """Wait for the database; one without this release's tables ends the process."""
    while not stop.is_set():
        try:
            return migrations.require(settings.dsn, "assay_resolver")
        except psycopg.OperationalError:
            health.ready(False, "the database does not answer")
            log.warning("database.unavailable")
            stop.wait(RETRY_SECONDS)
    return None


def main() -> None:
    """Read the settings and run the named process."""
    if sys.argv[1:] != ["api"]:
        sys.stderr.write("usage: python -m assay_resolver_api api\n")
        raise SystemExit(EXIT_CONFIGURATION)
    settings = read(ApiSettings)
    logs.setup(PROCESS, settings.log_level)
    failpoints.arm(settings.failpoints, settings.failpoint_log)
    stop, health = Stop(), Health()
    ops = OpsServer(settings.ops_host, settings.ops_port, health)
    log.info("process.started", port=ops.port)
    try:
        asyncio.run(run(settings, stop, health))
    finally:
        ops.close()


if __name__ == "__main__":
    main()
