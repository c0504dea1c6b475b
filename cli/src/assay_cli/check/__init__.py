"""The invariant checker: reads both databases, the topics and the bucket, and says what must not be."""

from assay_cli.check.run import check
from assay_cli.check.sources import Sources
from assay_cli.check.violations import Violation

__all__ = ["Sources", "Violation", "check"]
