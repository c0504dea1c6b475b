"""Every series of the resolver's API, beside those that each process has."""

from prometheus_client import Counter

DECISIONS = Counter(
    "assay_resolver_decisions_total", "Decisions of people by action and how they ended.", ["action", "result"]
)
"""action: accept, create, reject, pin; result: `decided`, `repeated` (the first result was given again), `conflict`."""
