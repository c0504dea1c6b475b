"""Wires one process of the product by name: `apply` or `api`."""

import asyncio
import sys

import psycopg
from assay_runtime import failpoints, logs, migrations
from assay_runtime.health import Health, OpsServer
from assay_runtime.http import KeyRing, serve
from assay_runtime.postgres import open_async_pool, open_sync_pool
from assay_runtime.settings import PostgresSettings, ProcessSettings, read
from assay_runtime.stop import Stop

from assay_product import api
from assay_product.apply import Applier
from assay_product.settings import ApiSettings, ApplySettings
from assay_product.store.reading import Reader

PACKAGE = "assay_product"
RETRY_SECONDS = 1.0

log = logs.get_logger()


def run_apply() -> None:
    """Apply events until asked to stop."""
    settings = read(ApplySettings)
    stop, health = _prepare("product.apply", settings), Health()
    ops = OpsServer(settings.ops_host, settings.ops_port, health)
    with open_sync_pool(settings.dsn, settings.pool_min, settings.pool_max, "product.apply") as pool:
        _await_schema(settings, stop)
        Applier(settings, pool, stop, health).run()
    ops.close()


async def run_api() -> None:
    """Serve the catalog until asked to stop."""
    settings = read(ApiSettings)
    stop, health = _prepare("product.api", settings), Health()
    ops = OpsServer(settings.ops_host, settings.ops_port, health)
    async with await open_async_pool(settings.dsn, settings.pool_min, settings.pool_max, "product.api") as pool:
        await asyncio.to_thread(_await_schema, settings, stop)
        reader = Reader(pool)
        app = api.make_app(
            reader, KeyRing(settings.key_pepper, reader.find_key), docs=settings.environment != "production"
        )
        await serve(app, settings, stop, health)
    ops.close()


def _prepare(process: str, settings: ProcessSettings) -> Stop:
    logs.setup(process, settings.log_level)
    failpoints.arm(settings.failpoints, settings.failpoint_log)
    return Stop()


def _await_schema(settings: PostgresSettings, stop: Stop) -> None:
    """Wait for the database; one without this release's tables ends the process."""
    while not stop.is_set():
        try:
            return migrations.require(settings.dsn, PACKAGE)
        except psycopg.OperationalError as error:
            log.warning("database.away", error_type=type(error).__name__)
            stop.wait(RETRY_SECONDS)
    return None


def main() -> None:
    """Run the process that the command line names."""
    match sys.argv[1:]:
        case ["apply"]:
            run_apply()
        case ["api"]:
            asyncio.run(run_api())
        case _:
            sys.exit("usage: python -m assay_product apply|api")


if __name__ == "__main__":
    main()
