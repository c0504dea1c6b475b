"""kill -9 of every process once, in turn, while pages keep coming: the catalog ends up as if nothing had happened."""

import threading
from collections.abc import Iterator
from itertools import count

import pytest
from assay_cli.stack import Stack
from assay_cli.stack.processes import PROCESSES
from assay_cli.stack.supervisor import PARTS

from .conftest import Open
from .pages import Product, gtin_of, page_of
from .shop import Shop, eventually, kill

VICTIMS = (*PROCESSES, *PARTS)
PACE_SECONDS = 0.2
"""Between two pages: what comes in while a process is away must be worked off afterwards."""


@pytest.mark.timeout(600)
def test_the_catalog_survives_kill_9_of_each_process_under_load(stack: Stack, open_shop: Open) -> None:
    shop = open_shop("ten_killed")
    over = threading.Event()
    sent: list[Product] = []
    load = threading.Thread(target=_load, args=(shop, over, sent))
    load.start()
    try:
        for name in VICTIMS:
            before = len(sent)
            kill(stack, name)
            eventually(f"pages are taken after the death of {name}", lambda seen=before: len(sent) > seen + 1 or None)
    finally:
        over.set()
        load.join()
    expected: dict[str, list[tuple[str, str]]] = {}
    for product in sent:
        expected.setdefault(product.gtin, []).append((f"{product.source_id}_example", product.price))
    assert shop.offers_by_gtin() == {gtin: sorted(offers) for gtin, offers in expected.items()}


def _load(shop: Shop, over: threading.Event, sent: list[Product]) -> None:
    """Hand in one page after the other, each item at two shops, until all were killed."""
    for product in _products():
        if over.wait(PACE_SECONDS):
            return
        shop.hand_in(page_of(product))
        sent.append(product)


def _products() -> Iterator[Product]:
    for number in count():
        yield Product("alpha", number, gtin_of(number), f"{number % 90 + 10}.25")
        yield Product("beta", number, gtin_of(number), f"{number % 90 + 10}.75")
