"""One whole installation for all end-to-end tests of a run: every service a process of its own, supervised."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from assay_cli.client import Client
from assay_cli.local_check import check_installation
from assay_cli.stack import Stack

from .shop import Shop, settle

END_TO_END = pytest.mark.xdist_group("e2e")
Open = Callable[[str], Shop]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """They share the installation, so they run in one worker."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(END_TO_END)


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Everything serves, and what has been read is pruned at once."""
    running = Stack(tmp_path_factory.mktemp("assay"))
    running.override("relay-prune", ASSAY_RETENTION_SECONDS="0", ASSAY_PRUNE_SECONDS="0.2")
    try:
        running.up(seconds=240)
        yield running
    finally:
        running.down()


@pytest.fixture
def open_shop(stack: Stack) -> Iterator[Open]:
    """Makes tenants; when the test is over, everything has come to rest and the checker finds nothing."""
    opened: list[Shop] = []

    def open_one(tenant_id: str) -> Shop:
        opened.append(Shop.opened(stack, tenant_id))
        return opened[-1]

    yield open_one
    for shop in opened:
        shop.client.http.close()
    settle(stack)
    assert check_installation(stack.installation) == []


@pytest.fixture
def client(open_shop: Open) -> Client:
    """A tenant of this test's own, as its client."""
    return open_shop("ten_single").client
