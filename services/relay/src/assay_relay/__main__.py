"""Runs one process of the relay: `python -m assay_relay events` or `python -m assay_relay jobs`.

Only the chosen one is imported: the schemas that the sweeper needs cost a second, and a relay that died is waited for.
"""

import sys
from collections.abc import Callable

from assay_runtime import failpoints, logs, settings
from assay_runtime.health import Health, OpsServer
from assay_runtime.settings import ProcessSettings
from assay_runtime.stop import Stop

from assay_relay.settings import EventsSettings, JobsSettings

log = logs.get_logger()


def main() -> None:
    """Choose the process by its name."""
    match sys.argv[1:]:
        case ["events"]:
            _run_events()
        case ["jobs"]:
            _run_jobs()
        case _:
            raise SystemExit("usage: python -m assay_relay events|jobs")


def _run_events() -> None:
    from assay_relay.events import EventsProcess

    environment = settings.read(EventsSettings)
    _serve("relay-events", environment, lambda health, stop: EventsProcess(environment, health, stop).run())


def _run_jobs() -> None:
    from assay_relay.jobs import JobsProcess

    environment = settings.read(JobsSettings)
    _serve("relay-jobs", environment, lambda health, stop: JobsProcess(environment, health, stop).run())


def _serve(name: str, environment: ProcessSettings, run: Callable[[Health, Stop], None]) -> None:
    logs.setup(name, environment.log_level)
    failpoints.arm(environment.failpoints, environment.failpoint_log)
    health, stop = Health(), Stop()
    ops = OpsServer(environment.ops_host, environment.ops_port, health)
    log.info("ops.listening", port=ops.port)
    try:
        run(health, stop)
    finally:
        ops.close()


if __name__ == "__main__":
    main()
