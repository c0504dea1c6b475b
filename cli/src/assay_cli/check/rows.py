"""The rules that one database can answer by itself: each statement returns no row when all is well."""

from collections.abc import Iterator

from assay_runtime import sql

from assay_cli.check.sources import Connection, Sources, stream
from assay_cli.check.violations import ROW_FILES, Violation, invariant_of


def check_rows(sources: Sources) -> Iterator[Violation]:
    """Run every statement of both files; its name begins with its invariant."""
    yield from _check(sources.resolver, ROW_FILES["resolver"])
    yield from _check(sources.product, ROW_FILES["product"])


def _check(connection: Connection, file: str) -> Iterator[Violation]:
    statements = sql.load("assay_cli", file)
    for rule in statements:
        for (subject,) in stream(connection, statements[rule]):
            yield Violation(invariant_of(rule), rule, str(subject))
