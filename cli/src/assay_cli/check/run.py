"""Runs every rule of the checker over one set of sources."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from assay_cli.check.credentials import check_credentials
from assay_cli.check.events_topic import check_events
from assay_cli.check.evidence import check_evidence
from assay_cli.check.history import check_history
from assay_cli.check.jobs_topic import check_jobs
from assay_cli.check.letters import check_letters
from assay_cli.check.projection import check_projections
from assay_cli.check.promises import check_promises
from assay_cli.check.rows import check_rows
from assay_cli.check.settled import check_settled
from assay_cli.check.sources import Sources
from assay_cli.check.violations import Violation

Rules = Callable[[Sources], Iterable[Violation]]

STEPS: Final[dict[str, Rules]] = {
    "rows": check_rows,
    "promises": check_promises,
    "history": check_history,
    "settled values": check_settled,
    "projections": check_projections,
    "credentials": check_credentials,
    "jobs topic": check_jobs,
    "events topic": check_events,
    "dead letters": check_letters,
    "evidence": check_evidence,
}
"""By what they look at, in their order."""

MOST_OF_A_RULE: Final = 1_000
"""A rule that is broken more often is told so many times."""


def check(sources: Sources, on_step: Callable[[str], None] = lambda _: None) -> list[Violation]:
    """Every violation of I1 to I8, I10, I11 and I14 that can be seen now; none is what a healthy installation shows.

    on_step: called with the name of each of STEPS as it begins. Blocks; not for the thread of an event loop.
    """
    return list(_bounded(_all(sources, on_step)))


def _all(sources: Sources, on_step: Callable[[str], None]) -> Iterator[Violation]:
    for name, rules in STEPS.items():
        on_step(name)
        yield from rules(sources)


def _bounded(violations: Iterable[Violation]) -> Iterator[Violation]:
    told = Counter[str]()
    for violation in violations:
        told[violation.rule] += 1
        if told[violation.rule] <= MOST_OF_A_RULE:
            yield violation
