"""What the checker finds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that must not be: its invariant (I1 to I15, or `MODEL`), the broken rule's name, and what breaks it."""

    invariant: str
    rule: str
    subject: str
