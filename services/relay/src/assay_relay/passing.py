"""Which failures of the database another round cures."""

import psycopg
from assay_runtime.postgres import is_conflict, is_outage
from psycopg.errors import ForeignKeyViolation, LockNotAvailable, QueryCanceled, TransactionTimeout

_CURED = ForeignKeyViolation | LockNotAvailable | QueryCanceled | TransactionTimeout


def is_passing(error: psycopg.Error) -> bool:
    """An outage, a conflict, a time limit, or an owner that was buried while it claimed."""
    return is_outage(error) or is_conflict(error) or isinstance(error, _CURED)
