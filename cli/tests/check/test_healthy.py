"""A healthy world, as the role that only reads sees it, has nothing that the checker would name."""

from assay_cli.check import STEPS, check, open_sources

from .place import Place

CHECKER = "assay_checker"


def test_the_checker_finds_nothing_in_a_healthy_world(world: Place) -> None:
    steps: list[str] = []
    dsns = (world.resolver.dsn(CHECKER), world.product.dsn(CHECKER))
    with open_sources(*dsns, world.kafka, world.evidence) as sources:
        assert check(sources, steps.append) == []
    assert steps == list(STEPS)
