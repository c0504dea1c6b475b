"""Runs one process of the resolver by its name: `python -m assay_resolver_api api`."""

import asyncio
import sys

from assay_runtime import logs
from assay_runtime.evidence import EvidenceStore
from assay_runtime.health import Health
from assay_runtime.http import serve
from assay_runtime.postgres import open_async_pool
from assay_runtime.process import await_schema, running
from assay_runtime.settings import EXIT_CONFIGURATION, read
from assay_runtime.stop import Stop
from assay_runtime.witness import watching

from assay_resolver_api.api import build_app
from assay_resolver_api.context import Context
from assay_resolver_api.settings import ApiSettings

PROCESS = "resolver-api"
SCHEMA = "assay_resolver"

log = logs.get_logger()


async def run(settings: ApiSettings, stop: Stop, health: Health) -> None:
    """Serve until asked to stop; requests under way end first."""
    await asyncio.to_thread(await_schema, settings, SCHEMA, stop, health)
    pool = await open_async_pool(settings.dsn, settings.pool_min, settings.pool_max, PROCESS)
    async with pool, EvidenceStore(settings) as bucket:
        await serve(build_app(settings, Context(pool, bucket)), settings, stop, health)


def main() -> None:
    """Read the settings and run the named process."""
    if sys.argv[1:] != ["api"]:
        sys.stderr.write("usage: python -m assay_resolver_api api\n")
        raise SystemExit(EXIT_CONFIGURATION)
    settings = read(ApiSettings)
    with running(PROCESS, settings) as (stop, health), watching(settings, settings.dsn, health, stop) as watch:
        asyncio.run(run(settings, watch.stop, health))


if __name__ == "__main__":
    main()
