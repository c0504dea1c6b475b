"""Every series of the resolver's API, beside those that each process has."""

from prometheus_client import Counter

DECISIONS = Counter(
    "assay_resolver_decisions_total", "Decisions of people by action and how they ended.", ["action", "result"]
)
"""action: what was asked for: accept, merge, undo, …, as the routes name it; result: `decided`, `repeated` (the first
result was given again), `conflict`."""
