"""What the supervisor says of itself and its processes, in a file that anyone may read at any time."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import JsonValue, TypeAdapter, ValidationError

from assay_cli.stack.durable import read_object, write_object
from assay_cli.stack.pids import Pid

Phase = Literal["parts", "provisioning", "services", "running", "stopping", "failed"]
Condition = Literal["waiting", "starting", "ready", "unready", "ended"]


@dataclass(frozen=True, slots=True)
class ProcessState:
    """One process; `why` says what keeps it from being ready.

    `restarts` counts its ends under this supervisor, `futile` those in a row before which it never served.
    """

    name: str
    kind: Literal["part", "service"]
    condition: Condition = "waiting"
    why: str = ""
    pid: int | None = None
    restarts: int = 0
    futile: int = 0
    ops_port: int | None = None
    port: int | None = None


@dataclass(frozen=True, slots=True)
class State:
    """The whole installation; `members` are the names it was asked to run."""

    supervisor: Pid
    phase: Phase
    members: list[str]
    problem: str = ""
    processes: dict[str, ProcessState] = field(default_factory=dict[str, ProcessState])

    def unready(self) -> list[ProcessState]:
        """The processes that do not serve now."""
        return [process for process in self.processes.values() if process.condition != "ready"]


_adapter = TypeAdapter(State)
_object = TypeAdapter(dict[str, JsonValue])


def read(path: Path) -> State | None:
    """The last state written; None when there is none."""
    found = read_object(path)
    try:
        return _adapter.validate_python(found) if found else None
    except ValidationError:
        return None


def write(path: Path, state: State) -> None:
    """Replace the file in one step."""
    write_object(path, _object.validate_python(asdict(state)))
