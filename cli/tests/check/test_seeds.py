"""Each rule of the checker has a wrong that it names: a checker that misses one is broken."""

import pytest
from assay_cli.check import check

from . import seeds_across, seeds_product, seeds_resolver
from .place import Place
from .seed import Seed, rules, spoilt

SEEDS = (*seeds_resolver.SEEDS, *seeds_product.SEEDS, *seeds_across.SEEDS)


@pytest.mark.parametrize("seed", SEEDS, ids=[f"{seed.decider}-{seed.rule}" for seed in SEEDS])
def test_a_seeded_wrong_is_named(world: Place, seed: Seed) -> None:
    with spoilt(world) as sources:
        seed.sow(sources)
        assert rules(check(sources)) == seed.broken
