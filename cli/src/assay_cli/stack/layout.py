"""Where one installation of the local stack keeps everything: one folder, two of which never meet."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths below one home folder."""

    home: Path

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def logs(self) -> Path:
        return self.home / "logs"

    @property
    def run(self) -> Path:
        return self.home / "run"

    @property
    def ports_file(self) -> Path:
        return self.home / "ports.json"

    @property
    def secrets_file(self) -> Path:
        return self.home / "secrets.json"

    @property
    def keys_file(self) -> Path:
        return self.home / "keys.json"

    @property
    def service_keys_file(self) -> Path:
        return self.home / "service_keys.json"

    @property
    def state_file(self) -> Path:
        return self.home / "state.json"

    @property
    def overrides_file(self) -> Path:
        return self.home / "overrides.json"

    @property
    def supervisor_lock(self) -> Path:
        return self.run / "supervisor.lock"

    def log_of(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def pid_file_of(self, name: str) -> Path:
        return self.run / f"{name}.stat"

    def make(self) -> None:
        """Create the folders; the home is the owner's alone, since secrets lie in it."""
        for folder in (self.home, self.data, self.logs, self.run):
            folder.mkdir(parents=True, exist_ok=True)


def default_home() -> Path:
    """The folder named by ASSAY_HOME, else `.assay` beside the environment that this command was installed into."""
    named = os.environ.get("ASSAY_HOME")
    return Path(named).absolute() if named else Path(sys.prefix).parent / ".assay"
