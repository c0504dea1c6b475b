"""One installation's addresses and secrets, and from them the environment of each of its processes."""

import os
from collections.abc import Collection
from dataclasses import dataclass

from assay_cli.stack import credentials as credentials_file
from assay_cli.stack import ports as ports_file
from assay_cli.stack import service_keys
from assay_cli.stack.credentials import Credentials
from assay_cli.stack.databases import Database
from assay_cli.stack.durable import read_object
from assay_cli.stack.kafka import Kafka
from assay_cli.stack.layout import Layout
from assay_cli.stack.ports import HOST
from assay_cli.stack.postgres import Postgres
from assay_cli.stack.processes import PROCESSES, Process
from assay_cli.stack.s3 import S3

PART_PORTS = ("postgres", "kafka", "kafka-controller", "s3")
BUCKET = "evidence-private"
_REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class Installation:
    """What is known of an installation whether or not it runs."""

    layout: Layout
    ports: dict[str, int]
    credentials: Credentials

    @property
    def postgres(self) -> Postgres:
        return Postgres(self.layout, self.ports["postgres"], self.credentials.of_role("postgres"))

    @property
    def kafka(self) -> Kafka:
        return Kafka(self.layout, self.ports["kafka"], self.ports["kafka-controller"])

    @property
    def s3(self) -> S3:
        return S3(self.layout, self.ports["s3"])

    def database(self, name: str) -> Database:
        """The database `resolver` or `product`."""
        return Database(self.postgres, self.credentials, name)

    def evidence(self, bucket: str = BUCKET) -> dict[str, str]:
        """The settings of a process that reads or writes evidence."""
        return {
            "ASSAY_S3_ENDPOINT": self.s3.endpoint,
            "ASSAY_S3_BUCKET": bucket,
            "ASSAY_S3_ACCESS_KEY": self.credentials.of("s3-access-key"),
            "ASSAY_S3_SECRET_KEY": self.credentials.of("s3-secret-key"),
            "ASSAY_S3_REGION": _REGION,
        }

    def retention(self, name: str) -> dict[str, str]:
        """The settings of a program that speaks to the relay's API under its own key."""
        port = self.ports[http_port_name("relay-api")]
        return {
            "ASSAY_RETENTION_URL": f"http://{HOST}:{port}",
            "ASSAY_RETENTION_KEY": service_keys.stored(self.layout, name) or "",
        }

    def environment(self, process: Process, history_epoch: str) -> dict[str, str]:
        """All settings of one process of this installation, its overrides included."""
        settings = {
            "ASSAY_DSN": self.database(process.database).dsn(process.role),
            "ASSAY_OPS_PORT": str(self.ports[ops_port_name(process.name)]),
            "ASSAY_ENVIRONMENT": "development",
            "PYTHONFAULTHANDLER": "1",
        }
        if "kafka" in process.needs:
            settings["ASSAY_KAFKA_BOOTSTRAP"] = self.kafka.bootstrap
        if "evidence" in process.needs:
            settings |= self.evidence()
        if "http" in process.needs:
            settings["ASSAY_HTTP_PORT"] = str(self.ports[http_port_name(process.name)])
        if "keys" in process.needs:
            settings["ASSAY_KEY_PEPPER"] = self.credentials.of("key-pepper")
        if "epoch" in process.needs:
            settings["ASSAY_HISTORY_EPOCH"] = history_epoch
        if "retention" in process.needs:
            settings |= self.retention(service_keys.APPLY)
        return settings | self._overrides(process.name)

    def _overrides(self, name: str) -> dict[str, str]:
        found = read_object(self.layout.overrides_file).get(name)
        return {key: str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def ops_port_name(process: str) -> str:
    """The remembered name of a process's second port."""
    return f"{process}-ops"


def http_port_name(process: str) -> str:
    """The remembered name of a process's public port."""
    return f"{process}-http"


def port_names() -> list[str]:
    """Every port that an installation uses."""
    ops = [ops_port_name(name) for name in PROCESSES]
    http = [http_port_name(name) for name, process in PROCESSES.items() if "http" in process.needs]
    return [*PART_PORTS, *ops, *http]


def settle(layout: Layout, names: Collection[str] | None = None) -> Installation:
    """Choose what is not chosen yet; to be called while nothing of the installation runs."""
    layout.make()
    ports = ports_file.settle(layout.ports_file, port_names() if names is None else names)
    return Installation(layout, ports, credentials_file.settle(layout))


def existing(layout: Layout) -> Installation:
    """What was chosen before; ports are empty for an installation that never ran."""
    return Installation(layout, ports_file.remembered(layout.ports_file), credentials_file.settle(layout))


def inherited() -> dict[str, str]:
    """The caller's environment without settings of Assay, which each process gets its own of."""
    return {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
