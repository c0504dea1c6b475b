"""What the supervisor needs to know of one process: how to prepare, start, ask and stop it."""

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["part", "service"]


def _nothing() -> None:
    """Most processes need no preparation."""


@dataclass(frozen=True, slots=True)
class Child:
    """One process of the stack.

    `not_ready` answers None when the process serves, else one line that says why it does not.
    """

    name: str
    kind: Kind
    command: list[str]
    not_ready: Callable[[], str | None]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    prepare: Callable[[], None] = _nothing
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 15.0
    ops_port: int | None = None
    port: int | None = None
