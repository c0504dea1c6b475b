"""One wrong that is put into the healthy world, and what the checker must say of it."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import psycopg
from assay_cli.check import Sources, Violation
from assay_cli.check.sources import Offsets
from assay_runtime.settings import EvidenceSettings, KafkaSettings

from .place import Place

Decider = Literal["resolver", "product", "python"]


@dataclass(frozen=True)
class Seed:
    """SQL for one or both databases. also: the rules that cannot but be broken with it."""

    decider: Decider
    rule: str
    resolver: str = ""
    product: str = ""
    also: tuple[str, ...] = ()

    @property
    def broken(self) -> set[str]:
        """All rules that the checker must name, and no other."""
        return {self.rule, *self.also}

    def sow(self, sources: Sources) -> None:
        """Do wrong in the transactions through which the checker will look."""
        for connection, statements in ((sources.resolver, self.resolver), (sources.product, self.product)):
            if statements:
                connection.execute(statements.encode())


@contextmanager
def spoilt(
    world: Place,
    kafka: KafkaSettings | None = None,
    evidence: EvidenceSettings | None = None,
    offsets: Offsets | None = None,
) -> Generator[Sources]:
    """The world as an administrator sees it, whom no constraint stops; whatever is done in it is rolled back."""
    with (
        psycopg.connect(world.resolver.admin_dsn) as resolver,
        psycopg.connect(world.product.admin_dsn) as product,
    ):
        for connection in (resolver, product):
            connection.execute("SET LOCAL session_replication_role = replica")
        yield Sources(resolver, product, kafka or world.kafka, evidence or world.evidence, offsets or world.offsets())
        resolver.rollback()
        product.rollback()


def rules(violations: Iterable[Violation]) -> set[str]:
    """The names of the broken rules."""
    return {violation.rule for violation in violations}
