"""Runs one process of intake by its name: `python -m assay_intake api`."""

import asyncio
import sys

from assay_runtime import logs
from assay_runtime.evidence import EvidenceStore, EvidenceUnavailable
from assay_runtime.health import Health
from assay_runtime.http import serve
from assay_runtime.kafka import Publisher
from assay_runtime.postgres import open_async_pool
from assay_runtime.process import await_schema, running
from assay_runtime.settings import EXIT_CONFIGURATION, read
from assay_runtime.stop import Stop
from assay_runtime.witness import watching

from assay_intake.api import Intake, build_app
from assay_intake.enqueue import Enqueuer
from assay_intake.settings import IntakeSettings
from assay_intake.spool import Spool

PROCESS = "intake-api"
SCHEMA = "assay_resolver"
RETRY_SECONDS = 1.0
PURGE_SECONDS = 1.0
"""What is still unsent after the enqueuer has waited is the sweeper's."""

log = logs.get_logger()


async def run(settings: IntakeSettings, stop: Stop, health: Health) -> None:
    """Serve until asked to stop; requests under way and sends under way end first."""
    await asyncio.to_thread(await_schema, settings, SCHEMA, stop, health)
    publisher = await asyncio.to_thread(Publisher, settings, PROCESS)
    pool = await open_async_pool(settings.dsn, settings.pool_min, settings.pool_max, PROCESS)
    try:
        async with pool, EvidenceStore(settings) as bucket:
            await prove(bucket, stop, health)
            enqueuer = Enqueuer(pool, publisher, settings)
            with Spool(settings.spool_dir, settings.spool_bytes) as spool:
                await serve(
                    build_app(settings, Intake(settings, pool, bucket, spool, enqueuer)), settings, stop, health
                )
            await enqueuer.close()
    finally:
        await asyncio.to_thread(publisher.close, PURGE_SECONDS)


async def prove(bucket: EvidenceStore, stop: Stop, health: Health) -> None:
    """Wait for the evidence store, then refuse one that lets a second writer replace what a first one put."""
    while not stop.is_set():
        try:
            await bucket.prove_conditional_puts()
        except EvidenceUnavailable:
            health.ready(False, "the evidence store does not answer")
            log.warning("evidence.unavailable")
            await asyncio.to_thread(stop.wait, RETRY_SECONDS)
        else:
            return


def main() -> None:
    """Read the settings and run the named process."""
    if sys.argv[1:] != ["api"]:
        sys.stderr.write("usage: python -m assay_intake api\n")
        raise SystemExit(EXIT_CONFIGURATION)
    settings = read(IntakeSettings)
    with running(PROCESS, settings) as (stop, health), watching(settings, settings.dsn, health, stop) as watch:
        asyncio.run(run(settings, watch.stop, health))


if __name__ == "__main__":
    main()
