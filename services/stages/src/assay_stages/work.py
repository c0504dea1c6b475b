"""What a stage is to the code that delivers jobs to it: a name, a successor, and work in two parts."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from assay_contracts.ids import Stage
from assay_contracts.messages import ResolutionJob
from assay_resolver.jobs import CaptureRow

from assay_stages.store import Connection


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job ended, as people read it on its row; `cause` says why there is nothing, if there is not."""

    outcome: str
    cause: str | None = None


Effect = Callable[[Connection], Awaitable[Ended]]
"""Writes the result in the transaction that ends the job; it may run again if that transaction rolls back."""


class Work(Protocol):
    """One stage's work. Every exception of both parts is an attempt that failed, unless a dependency is away."""

    @property
    def stage(self) -> Stage:
        """Whose jobs it takes."""
        ...

    @property
    def next_stage(self) -> Stage | None:
        """Who goes on after it; None ends the chain."""
        ...

    async def prepare(self, job: ResolutionJob, capture: CaptureRow) -> Effect:
        """Read and compute with no transaction open, and return what to write."""
        ...
