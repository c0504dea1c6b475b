"""Every service process that the stack runs: its program, its database role, and which settings it is given."""

from dataclasses import dataclass
from typing import Literal

Need = Literal["kafka", "evidence", "http", "keys", "epoch", "retention"]


@dataclass(frozen=True, slots=True)
class Process:
    """One process: `python -m PACKAGE ARGUMENT`, under one role of one database."""

    name: str
    package: str
    argument: str
    database: Literal["resolver", "product"]
    role: str
    needs: frozenset[Need]


def _process(
    name: str, program: str, database: Literal["resolver", "product"], role: str, *needs: Need
) -> tuple[str, Process]:
    package, argument = program.split()
    return name, Process(name, package, argument, database, role, frozenset(needs))


PROCESSES = dict(
    (
        _process("intake", "assay_intake api", "resolver", "assay_intake", "kafka", "evidence", "http", "keys"),
        _process("extract", "assay_stages extract", "resolver", "assay_stages", "kafka", "evidence"),
        _process("normalize", "assay_stages normalize", "resolver", "assay_stages", "kafka", "evidence"),
        _process("identity", "assay_stages identity", "resolver", "assay_stages", "kafka", "evidence"),
        _process(
            "resolver",
            "assay_resolver_api api",
            "resolver",
            "assay_resolver_api",
            "kafka",
            "evidence",
            "http",
            "keys",
        ),
        _process("relay-events", "assay_relay events", "resolver", "assay_relay_events", "kafka"),
        _process("relay-jobs", "assay_relay jobs", "resolver", "assay_relay_jobs", "kafka"),
        _process("relay-prune", "assay_relay prune", "resolver", "assay_relay_prune", "kafka"),
        _process("relay-api", "assay_relay api", "resolver", "assay_relay_api", "kafka", "evidence", "http", "keys"),
        _process("apply", "assay_product apply", "product", "assay_apply", "kafka", "epoch", "retention"),
        _process("product", "assay_product api", "product", "assay_product_api", "http", "keys", "epoch"),
    )
)
