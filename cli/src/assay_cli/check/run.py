"""Runs every rule of the checker over one set of sources."""

import asyncio
from collections.abc import Callable

from assay_cli.check.evidence import check_evidence
from assay_cli.check.projection import check_digests, check_projections
from assay_cli.check.rows import check_rows
from assay_cli.check.sources import Sources
from assay_cli.check.topics import check_topics
from assay_cli.check.violations import Violation

STEPS = ("rows", "digests", "projections", "topics", "evidence")


def check(sources: Sources, on_step: Callable[[str], None] = lambda _: None) -> list[Violation]:
    """Every violation of I1 to I8, I10, I11 and I14 that can be seen now; none is what a healthy installation shows.

    on_step: called with the name of each of STEPS as it begins.
    """
    found: list[Violation] = []
    for name, rules in (
        ("rows", check_rows),
        ("digests", check_digests),
        ("projections", check_projections),
        ("topics", check_topics),
    ):
        on_step(name)
        found.extend(rules(sources))
    on_step("evidence")
    found.extend(asyncio.run(check_evidence(sources)))
    return found
