"""The invariant checker: reads both databases, the topics and the bucket, and says what must not be."""

from assay_cli.check.run import STEPS, check
from assay_cli.check.sources import Sources, open_sources
from assay_cli.check.violations import Violation

__all__ = ["STEPS", "Sources", "Violation", "check", "open_sources"]
