"""The demonstration's pages: every fact leads back to its bytes, and the catalog they make is the promised one."""

import gzip
import json
from pathlib import Path
from typing import NamedTuple, TypedDict, cast

import pytest
from assay_stages import verify
from assay_stages.extract import adapters
from assay_stages.extract.facts import Found
from assay_stages.normalize import profiles
from assay_stages.normalize.listing_key import listing_key
from assay_stages.normalize.reading import Extraction, Reading

PAGES = Path(__file__).parents[4] / "cli" / "src" / "assay_cli" / "demo_pages"
HTML = "text/html"
TENANTS = ("north", "south")
PROFILE = profiles.select(None)


class Capture(TypedDict):
    """One line of captures.jsonl."""

    file: str
    url: str
    observed_at: str
    fetch_status: int
    source: str


class Read(NamedTuple):
    """A capture's page, what the adapters found in it, and the reading that came of it."""

    capture: Capture
    page: bytes
    found: dict[str, Found]
    reading: Reading | None


def captures(tenant: str) -> list[Capture]:
    lines = (PAGES / tenant / "captures.jsonl").read_text().splitlines()
    return [cast(Capture, json.loads(line)) for line in lines]


def read(tenant: str, capture: Capture) -> Read:
    data = (PAGES / tenant / capture["file"]).read_bytes()
    page = gzip.decompress(data) if capture["file"].endswith(".gz") else data
    found = {str(adapter.version): adapter.read(page, HTML, capture["url"]) for adapter in adapters.select(None)}
    extractions = [Extraction("0" * 64, version, one.found) for version, one in found.items()]
    return Read(capture, page, found, PROFILE.read_product(extractions, capture["url"]))


ALL = [
    pytest.param(tenant, capture, id=f"{tenant}/{capture['file'][:20]}")
    for tenant in TENANTS
    for capture in captures(tenant)
]


@pytest.mark.parametrize(("tenant", "capture"), ALL)
def test_every_fact_of_a_demo_page_leads_back_to_its_bytes(tenant: str, capture: Capture) -> None:
    one = read(tenant, capture)
    for fact in one.reading.facts if one.reading else ():
        claim = verify.Claim(fact.adapter, PROFILE.version, fact.name, fact.place_syntax, fact.place, fact.raw)
        verified = verify.verify(one.page, HTML, capture["url"], claim)
        assert verified.raw_stands
        if fact.value is not None:
            assert verified.value == fact.value


@pytest.mark.parametrize("tenant", TENANTS)
def test_demo_pages_make_the_expected_catalog(tenant: str) -> None:
    """Only exact keys map here; which pages look alike enough for a case is the resolver's to say."""
    pages = [read(tenant, capture) for capture in captures(tenant)]
    doubtful = cast("dict[str, list[str]]", expected(tenant))["doubtful"]
    items: dict[str, list[str]] = {}
    for one in pages:
        if one.reading is not None and one.capture["url"] not in doubtful:
            key = listing_key(None, one.capture["url"])
            assert key is not None
            items.setdefault(gtin_of(one.reading) or key, []).append(key)
    unread = [one for one in pages if one.reading is None]
    broken = [one.capture["file"] for one in unread if "broken" in {found.outcome for found in one.found.values()}]
    shared = [{"gtin": gtin, "listings": sorted(keys)} for gtin, keys in sorted(items.items()) if len(keys) > 1]
    assert expected(tenant) == {
        "captures": len(pages),
        "products": len(pages) - len(unread),
        "items": len(items),
        "open_cases": len(doubtful),
        "doubtful": doubtful,
        "nothing": [one.capture["file"] for one in unread if one.capture["file"] not in broken],
        "broken": broken,
        "shared": shared,
    }
    assert shared


def gtin_of(reading: Reading) -> str | None:
    value = next((fact.value for fact in reading.facts if fact.name == "gtin" and fact.value), None)
    return None if value is None else str(json.loads(value)["code"])


def expected(tenant: str) -> object:
    return json.loads((PAGES / "expected.json").read_text())["tenants"][tenant]


def test_every_file_of_the_demo_is_captured_and_every_own_page_says_whose_it_is() -> None:
    for tenant in TENANTS:
        files = {str(path.relative_to(PAGES / tenant)) for path in (PAGES / tenant).rglob("*.html*")}
        assert files == {capture["file"] for capture in captures(tenant)}
        for path in (PAGES / tenant / "own").iterdir():
            assert path.name.endswith(".own.html")
            assert b"Assay demonstration page" in path.read_bytes()


def test_the_demo_has_enough_real_pages_with_a_product() -> None:
    real = {
        capture["file"]
        for tenant in TENANTS
        for capture in captures(tenant)
        if capture["file"].endswith(".gz") and capture["file"] not in json.dumps(expected(tenant))
    }
    assert len(real) >= 30
