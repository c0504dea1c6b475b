"""A stranger's folder of pages goes the whole way by the operator's command alone, and can be questioned."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from assay_cli.captures import Page
from assay_cli.main import app
from assay_cli.stack import Stack
from typer.testing import CliRunner, Result

from .conftest import Open
from .pages import gtin_of, html, offered_twice, page_of
from .shop import Shop

TENANT = "ten_stranger"
NUMBERS = range(500_100, 500_105)
LIKE_NAMED = '<script type="application/ld+json">{"@type": "Product", "name": "Amber kettle 500101"}</script>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five products at two shops each, a page that tells of none, and one that is no page; as files alone."""
    products = [replace(one, number=NUMBERS[one.number], gtin=gtin_of(NUMBERS[one.number])) for one in offered_twice(5)]
    for product in products:
        write(tmp_path / product.shop / f"{product.number}.html", page_of(product))
    write(tmp_path / "about.html", html("", "<h1>About us</h1>"))
    (tmp_path / "broken.html").write_bytes(b"\x00\xff\x00")
    return tmp_path


def write(path: Path, page: Page) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(page.content)


@pytest.fixture
def shop(open_shop: Open) -> Shop:
    return open_shop(TENANT)


def assay(stack: Stack, *words: str | Path) -> Result:
    """The command as a person types it, for the tenant of this test."""
    environment = {"ASSAY_HOME": str(stack.layout.home), "ASSAY_TENANT": TENANT, "COLUMNS": "200"}
    return CliRunner().invoke(app, [str(word) for word in words], env=environment)


def asked(stack: Stack, *words: str | Path) -> dict[str, Any]:
    """What the command answers to a program."""
    result = assay(stack, *words, "--json")
    assert result.exit_code == 0, result.output
    return cast("dict[str, Any]", json.loads(result.stdout))


def test_a_folder_that_nobody_knows_becomes_a_catalog_that_can_be_questioned(shop: Shop, folder: Path) -> None:
    taken = asked(shop.stack, "capture", "add", folder, "--source", "src_stranger", "--wait")
    assert len(taken["receipts"]) == 12
    assert taken["ends"] == {"created": 5, "mapped": 5, "nothing": 1, "broken": 1}
    assert taken["refused"] == []
    assert len(shop.items()) == 5
    listed = asked(shop.stack, "catalog", "list")["items"]
    assert {one["gtin"][0] for one in listed} == {gtin_of(number) for number in NUMBERS}
    assert {len(one["offers"]) for one in listed} == {2}
    found = asked(shop.stack, "catalog", "search", gtin_of(NUMBERS[0]))["items"]
    assert [one["gtin"] for one in found] == [[gtin_of(NUMBERS[0])]]
    shown = assay(shop.stack, "item", "show", found[0]["item_id"])
    assert shown.exit_code == 0
    assert "in stock" in shown.stdout
    explained = asked(shop.stack, "explain", found[0]["item_id"], "name")
    files = {fact["key"] for value in explained["attributes"] for fact in value["support"]}
    assert files <= {f"file:{name}/{NUMBERS[0]}.html" for name in ("alpha", "beta")}
    assert all(verdict["hash_stands"] and verdict["value_stands"] for verdict in explained["verified"].values())


def test_handing_the_folder_in_again_changes_nothing(shop: Shop, folder: Path) -> None:
    first = asked(shop.stack, "capture", "add", folder, "--source", "src_stranger", "--wait")
    before = shop.items()
    again = asked(shop.stack, "capture", "add", folder, "--source", "src_stranger")
    assert again["receipts"] == first["receipts"]
    assert shop.items() == before


def test_a_page_that_is_refused_does_not_keep_the_others_out(shop: Shop, folder: Path) -> None:
    entries = [
        {"file": "about.html", "url": "https://stranger.example/about"},
        {"file": "about.html", "url": "https://stranger.example/tomorrow", "observed_at": "2999-01-01T00:00:00Z"},
    ]
    entries.append({"file": "about.html", "observed_at": "yesterday"})
    (folder / "captures.jsonl").write_text("\n".join(map(json.dumps, entries)) + '\n{"file": "away.html"}')
    result = assay(shop.stack, "capture", "add", folder, "--json")
    assert result.exit_code == 1
    taken = json.loads(result.stdout)
    assert len(taken["receipts"]) == 1
    manifest = f"{folder / 'captures.jsonl'} line 4"
    assert [one["page"] for one in taken["refused"]] == [
        manifest,
        "https://stranger.example/tomorrow",
        "file:about.html",
    ]


def test_a_doubt_is_answered_and_a_value_stated_by_a_person(shop: Shop, folder: Path) -> None:
    asked(shop.stack, "capture", "add", folder, "--source", "src_stranger", "--wait")
    write(folder / "doubt" / "like.html", html("", LIKE_NAMED))
    asked(shop.stack, "capture", "add", folder / "doubt", "--source", "src_other", "--wait")
    (case,) = asked(shop.stack, "cases", "list")["cases"]
    item_id = asked(shop.stack, "cases", "show", case["case_id"])["candidates"][0]["item_id"]
    shown = assay(shop.stack, "cases", "show", case["case_id"])
    assert f"decide {case['case_id']} accept --item {item_id}" in shown.stdout
    words = ("cases", "decide", case["case_id"], "accept", "--item", item_id, "--because", "the same shelf")
    first = asked(shop.stack, *words, "--request-id", "one-answer", "--revision", str(case["revision"]))
    again = asked(shop.stack, *words, "--request-id", "one-answer", "--revision", str(case["revision"]))
    assert again["decision_id"] == first["decision_id"]
    assert asked(shop.stack, "cases", "list")["cases"] == []
    asked(shop.stack, "pin", item_id, "color", "birch", "--because", "seen in the shop")
    shop.items()
    values = {one["name"]: one for one in asked(shop.stack, "item", "show", item_id)["attributes"]}
    assert values["color"]["value"]["text"] == "birch"
    assert values["color"]["by"] == "person"


def test_explain_says_what_else_is_stated_and_why_it_does_not_stand(shop: Shop, folder: Path) -> None:
    asked(shop.stack, "capture", "add", folder, "--source", "src_stranger", "--wait")
    (item,) = asked(shop.stack, "catalog", "search", gtin_of(NUMBERS[1]))["items"]
    asked(shop.stack, "pin", item["item_id"], "name", "Kettle", "--because", "it is called so")
    shop.items()
    explained = assay(shop.stack, "explain", item["item_id"], "name")
    assert explained.exit_code == 0, explained.output
    assert f"states Amber kettle {NUMBERS[1]}" in explained.stdout
    assert "a person's value stands before any source's" in explained.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("item", "show", "item_0192f4e27c107c71a4b10a3f1c2b8d44"), "404"),
        (("item", "show", "kettle"), "path/item_id"),
        (("capture", "add", "no-such-folder"), "there is no no-such-folder"),
        (("tenant", "add", "mine"), "such as ten_acme"),
        (("catalog", "list", "--tenant", "ten_nobody"), "assay tenant add ten_nobody"),
        (("cases", "decide", "cas_1", "accept", "--because", "x"), "need --item"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(shop: Shop, words: tuple[str, ...], told: str) -> None:
    result = assay(shop.stack, *words)
    assert result.exit_code == 1
    assert told in result.stderr
    assert "Traceback" not in result.output
