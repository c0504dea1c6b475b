"""A real stage process, started, signalled and watched by tests."""

import json
import os
import signal
import subprocess
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.error import URLError
from urllib.request import urlopen

from assay_cli.stack.ports import HOST

from .world import Place, wait_for

SCRIPTED = "scripted"
SCRIPT = Path(__file__).parent / "scripted_stage.py"
QUICK = {
    "ASSAY_STAGES_SESSION_SECONDS": "6",
    "ASSAY_STAGES_HEARTBEAT_SECONDS": "1",
    "ASSAY_STAGES_REBALANCE_SECONDS": "20",
    "ASSAY_STAGES_STUCK_SECONDS": "40",
    "ASSAY_ENVIRONMENT": "test",
}


@dataclass
class StageProcess:
    """`python -m assay_stages <stage>` as a child of the test."""

    stage: str
    process: subprocess.Popen[bytes]
    log_path: Path
    log: IO[bytes]

    def events(self, name: str | None = None) -> list[dict[str, object]]:
        """Its log lines so far."""
        lines = [json.loads(line) for line in self.log_path.read_text().splitlines() if line.startswith("{")]
        return [line for line in lines if name in (None, line.get("event"))]

    def is_ready(self) -> bool:
        """Whether it says that it takes jobs."""
        return self._probe("readyz")

    def is_live(self) -> bool:
        """Whether its loop turns."""
        return self._probe("livez")

    def metrics(self) -> dict[str, float]:
        """Its series without labels, and with them in their written form."""
        with urlopen(f"http://{HOST}:{self._port()}/metrics", timeout=5) as answer:
            lines = answer.read().decode().splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[:1] != "#")}

    def _probe(self, name: str) -> bool:
        port = self._port()
        try:
            with urlopen(f"http://{HOST}:{port}/{name}", timeout=5) as answer:
                return answer.status == 200
        except (URLError, OSError):
            return False

    def _port(self) -> object:
        return wait_for(lambda: self.events("process.started"), 90)[0]["port"]

    def send(self, number: signal.Signals) -> None:
        """A signal."""
        self.process.send_signal(number)

    def status(self, seconds: float = 40.0) -> int:
        """The exit status, once it has ended."""
        status = self.process.wait(seconds)
        self.log.close()
        return status

    def stop(self) -> int:
        """Ask it to end; the exit status."""
        self.send(signal.SIGTERM)
        return self.status()

    def kill(self) -> None:
        """SIGKILL, if it still runs."""
        if self.process.poll() is None:
            self.send(signal.SIGKILL)
        self.status()


def start(place: Place, stage: str, folder: Path, **settings: str) -> StageProcess:
    """Start the process without waiting for anything."""
    log_path = folder / f"{stage}-{uuid.uuid4().hex}.log"
    log = log_path.open("wb")
    environment = {
        **os.environ,
        **QUICK,
        **place.evidence_environment,
        "ASSAY_DSN": place.database.dsn("assay_stages"),
        "ASSAY_KAFKA_BOOTSTRAP": place.kafka.kafka_bootstrap,
        "ASSAY_KAFKA_PREFIX": place.kafka.kafka_prefix,
    } | {f"ASSAY_{name.upper()}": value for name, value in settings.items()}
    environment["ASSAY_TEST_GATES"] = str(folder)
    command = [sys.executable, str(SCRIPT)] if stage == SCRIPTED else [sys.executable, "-m", "assay_stages", stage]
    process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT, cwd=folder)
    return StageProcess(stage, process, log_path, log)
