"""What everybody has read leaves the outbox, the catalog stays right, and the commands say what is kept for whom."""

import json
from typing import cast

import pytest
from assay_cli.client import Document
from assay_cli.main import app
from assay_cli.stack import Stack
from typer.testing import CliRunner

from .conftest import Open
from .pages import offered_twice, page_of
from .shop import eventually


@pytest.fixture
def here(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands speak to this installation."""
    monkeypatch.setenv("ASSAY_HOME", str(stack.layout.home))


def _ask(*words: str) -> Document:
    answer = CliRunner().invoke(app, [*words, "--json"])
    assert answer.exit_code == 0, answer.output
    return cast("Document", json.loads(answer.stdout))


def _kept(tenant_id: str) -> Document:
    return _ask("retention", "show", tenant_id)


@pytest.mark.usefixtures("here")
@pytest.mark.timeout(600)
def test_what_apply_has_read_is_pruned_and_the_catalog_goes_on(open_shop: Open) -> None:
    shop = open_shop("ten_pruned")
    first, second = offered_twice(1)
    shop.ended(shop.hand_in(page_of(first)))

    def pruned() -> Document | None:
        kept = _kept("ten_pruned")
        stream = cast("Document", kept["stream"])
        return kept if stream["head"] and stream["floor"] == stream["head"] else None

    kept = eventually("everything is pruned", pruned)
    assert (kept["kept"], kept["held_by"]) == (0, ["consumer product.apply"])
    shop.ended(shop.hand_in(page_of(second)))
    eventually("the second page is pruned too", pruned)
    offers = [("src_alpha_example", first.price), ("src_beta_example", second.price)]
    assert shop.offers_by_gtin() == {first.gtin: offers}


@pytest.mark.usefixtures("here")
def test_the_commands_say_who_reads_and_which_epoch_is_open(open_shop: Open) -> None:
    open_shop("ten_asking")
    consumers = cast("list[Document]", _ask("retention", "consumers")["consumers"])
    assert [(one["name"], one["kind"], one["every_stream"]) for one in consumers] == [("product.apply", "live", True)]
    assert _ask("epochs", "list")["epochs"] == [{"ordinal": 1, "name": "history-1", "state": "open"}]
    answer = CliRunner().invoke(app, ["retention", "unregister", "nobody", "--because", "a test"])
    assert (answer.exit_code, "nothing of this name" in answer.output) == (1, True)
