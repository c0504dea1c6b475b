"""A stage process whose work is scripted by the artifact's media type; run as a program by tests.

`text/html;lethal` ends the process, `text/html;slow` waits until a file named after the capture appears in
ASSAY_TEST_GATES, anything else is done at once. No bytes are read, so that thousands of jobs cost only the delivery.
"""

import asyncio
import os
import sys
import time
from pathlib import Path

from assay_contracts.ids import Stage
from assay_contracts.messages import ResolutionJob
from assay_resolver.jobs import CaptureRow
from assay_runtime import failpoints, logs, settings
from assay_runtime.health import Health, OpsServer
from assay_runtime.stop import Stop
from assay_stages.process import StageProcess, open_pool
from assay_stages.settings import StageSettings
from assay_stages.store import Connection
from assay_stages.work import Effect, Ended

LETHAL_STATUS = 99


class Scripted:
    """Extract, by script."""

    stage: Stage = "extract"
    next_stage: Stage | None = None

    async def prepare(self, job: ResolutionJob, capture: CaptureRow) -> Effect:
        """Do as the media type says."""
        media_type = job.artifacts[0].media_type
        if media_type.endswith(";lethal"):
            os._exit(LETHAL_STATUS)
        if media_type.endswith(";slow"):
            gate = Path(os.environ["ASSAY_TEST_GATES"]) / job.capture_id
            gate.with_suffix(".begun").touch()
            await asyncio.to_thread(_wait_for, gate)
        return _done


def _wait_for(gate: Path) -> None:
    while not gate.exists():
        time.sleep(0.05)


async def _done(_conn: Connection) -> Ended:
    return Ended("scripted")


async def _run(given: StageSettings, health: Health, stop: Stop) -> bool:
    async with open_pool(given, "extract") as pool:
        return await StageProcess(given, health, stop).run(Scripted(), pool)


def main() -> int:
    """As `python -m assay_stages extract` does it."""
    given = settings.read(StageSettings)
    logs.setup("stages.scripted", given.log_level)
    failpoints.arm(given.failpoints, given.failpoint_log)
    stop, health = Stop(), Health()
    server = OpsServer(given.ops_host, given.ops_port, health)
    logs.get_logger().info("process.started", port=server.port)
    try:
        return 0 if asyncio.run(_run(given, health, stop)) else 1
    finally:
        server.close()


if __name__ == "__main__":
    sys.exit(main())
