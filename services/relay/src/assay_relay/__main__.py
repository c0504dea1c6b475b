"""Runs one process of the relay: `python -m assay_relay events`, `jobs`, `prune` or `api`.

Only the chosen one is imported: the schemas that the sweeper needs cost a second, and a relay that died is waited for.
"""

import asyncio
import sys
from collections.abc import Callable
from typing import TypeAlias

from assay_runtime import settings
from assay_runtime.health import Health
from assay_runtime.process import await_schema, running
from assay_runtime.witness import Watch, watching

from assay_relay.settings import ApiSettings, EventsSettings, JobsSettings, PruneSettings

SCHEMA = "assay_resolver"

Settings: TypeAlias = EventsSettings | JobsSettings | PruneSettings | ApiSettings


def main() -> None:
    """Choose the process by its name."""
    match sys.argv[1:]:
        case ["events"]:
            _run_events()
        case ["jobs"]:
            _run_jobs()
        case ["prune"]:
            _run_prune()
        case ["api"]:
            _run_api()
        case _:
            raise SystemExit("usage: python -m assay_relay events|jobs|prune|api")


def _run_events() -> None:
    from assay_relay.events import EventsProcess

    environment = settings.read(EventsSettings)
    _serve("relay-events", environment, lambda health, watch: EventsProcess(environment, health, watch).run())


def _run_jobs() -> None:
    from assay_relay.jobs import JobsProcess

    environment = settings.read(JobsSettings)
    _serve("relay-jobs", environment, lambda health, watch: JobsProcess(environment, health, watch.stop).run())


def _run_prune() -> None:
    from assay_relay.prune import PruneProcess

    environment = settings.read(PruneSettings)
    _serve("relay-prune", environment, lambda health, watch: PruneProcess(environment, health, watch.stop).run())


def _run_api() -> None:
    from assay_relay.api.process import run

    environment = settings.read(ApiSettings)
    _serve("relay-api", environment, lambda health, watch: asyncio.run(run(environment, health, watch.stop)))


def _serve(name: str, environment: Settings, run: Callable[[Health, Watch], None]) -> None:
    with running(name, environment) as (stop, health):
        await_schema(environment, SCHEMA, stop, health)
        with watching(environment, environment.dsn, health, stop) as watch:
            run(health, watch)


if __name__ == "__main__":
    main()
