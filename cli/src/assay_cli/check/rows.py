"""The rules that one database can answer by itself: each statement returns no row when all is well."""

from collections.abc import Iterator

import psycopg
from assay_runtime import sql
from psycopg.rows import TupleRow

from assay_cli.check.sources import Sources
from assay_cli.check.violations import Violation


def check_rows(sources: Sources) -> Iterator[Violation]:
    """Run every statement of both files; its name begins with its invariant."""
    yield from _check(sources.resolver, "check_resolver")
    yield from _check(sources.product, "check_product")


def _check(connection: psycopg.Connection[TupleRow], name: str) -> Iterator[Violation]:
    statements = sql.load("assay_cli", name)
    for rule in statements:
        for (subject,) in connection.execute(statements[rule]):
            yield Violation(invariant_of(rule), rule, str(subject))


def invariant_of(rule: str) -> str:
    """`i4_positions_not_whole` is about I4, `model_listing_forgotten` about the catalog's own model."""
    return rule.split("_", 1)[0].upper()
