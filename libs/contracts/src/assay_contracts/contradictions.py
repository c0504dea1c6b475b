"""What a rule is given, and what it finds."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from assay_contracts.pointers import Path
from assay_contracts.reasons import RuleReason

Document: TypeAlias = Mapping[str, Any]
"""A document that its schema has taken."""

Contradictions: TypeAlias = Iterable[tuple[RuleReason, Path, str]]
"""Reason, place and sentence of each."""
