"""Runs one stage: `python -m assay_stages extract`, `normalize` or `identity`."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping

from assay_runtime import settings
from assay_runtime.evidence import EvidenceStore
from assay_runtime.health import Health
from assay_runtime.process import await_schema, running
from assay_runtime.stop import Stop
from assay_runtime.witness import watching

from assay_stages.extract_stage import ExtractStage
from assay_stages.identity_stage import IdentityStage
from assay_stages.log_limit import limit_libraries
from assay_stages.normalize_stage import NormalizeStage
from assay_stages.process import StageProcess, open_pool
from assay_stages.reader_threads import ReaderThreads
from assay_stages.settings import ExtractSettings, StageSettings

SCHEMA = "assay_resolver"
USAGE = 64
"""EX_USAGE of sysexits.h."""
FAILED = 1

Run = Callable[[Health, Stop], Coroutine[None, None, bool]]


async def _extract(given: ExtractSettings, health: Health, stop: Stop) -> bool:
    threads = ReaderThreads(given.stages_reader_seconds)
    async with open_pool(given, "extract") as pool, EvidenceStore(given) as evidence:
        finished = await StageProcess(given, health, stop).run(ExtractStage(evidence, threads), pool)
    threads.close()
    return finished


async def _normalize(given: StageSettings, health: Health, stop: Stop) -> bool:
    threads = ReaderThreads(given.stages_reader_seconds)
    async with open_pool(given, "normalize") as pool:
        finished = await StageProcess(given, health, stop).run(NormalizeStage(pool, threads), pool)
    threads.close()
    return finished


async def _identity(given: StageSettings, health: Health, stop: Stop) -> bool:
    async with open_pool(given, "identity") as pool:
        return await StageProcess(given, health, stop).run(IdentityStage(), pool)


def _configured_extract() -> tuple[StageSettings, Run]:
    given = settings.read(ExtractSettings)
    return given, lambda health, stop: _extract(given, health, stop)


def _configured_normalize() -> tuple[StageSettings, Run]:
    given = settings.read(StageSettings)
    return given, lambda health, stop: _normalize(given, health, stop)


def _configured_identity() -> tuple[StageSettings, Run]:
    given = settings.read(StageSettings)
    return given, lambda health, stop: _identity(given, health, stop)


STAGES: Mapping[str, Callable[[], tuple[StageSettings, Run]]] = {
    "extract": _configured_extract,
    "normalize": _configured_normalize,
    "identity": _configured_identity,
}


def main() -> int:
    """Run the named stage until SIGTERM; 0 after a clean stop."""
    if len(sys.argv) != 2 or sys.argv[1] not in STAGES:
        sys.stderr.write(f"usage: python -m assay_stages {'|'.join(STAGES)}\n")
        return USAGE
    name = sys.argv[1]
    given, run = STAGES[name]()
    with running(f"stages.{name}", given) as (stop, health):
        limit_libraries()
        await_schema(given, SCHEMA, stop, health)
        with watching(given, given.dsn, health, stop) as watch:
            finished = asyncio.run(run(health, watch.stop))
    return 0 if finished else FAILED


if __name__ == "__main__":
    raise SystemExit(main())
