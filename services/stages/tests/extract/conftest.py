"""Small pages of our own, read by one adapter."""

import json
from collections.abc import Callable

import pytest
from assay_stages.extract import opengraph, schema_org
from assay_stages.extract.facts import Found, RawFact

URL = "https://shop.example/thing"

Stated = dict[tuple[str, str], list[str]]
ReadHtml = Callable[[str], Stated]
ReadJson = Callable[[object], Stated]


def stated(facts: tuple[RawFact, ...]) -> Stated:
    """Raw values by (name, line)."""
    by_name: Stated = {}
    for fact in facts:
        by_name.setdefault((fact.name, fact.line), []).append(fact.raw)
    return by_name


def schema_org_facts(page: str) -> Found:
    return schema_org.read(page.encode(), "text/html; charset=utf-8", URL)


@pytest.fixture
def read_html() -> ReadHtml:
    """What pa_schema_org states of an HTML page."""
    return lambda page: stated(schema_org_facts(page).found)


@pytest.fixture
def read_json() -> ReadJson:
    """What pa_schema_org states of a page with one JSON-LD script, given as a value."""
    return lambda data: stated(
        schema_org_facts(f'<script type="application/ld+json">{json.dumps(data)}</script>').found
    )


@pytest.fixture
def read_metas() -> ReadHtml:
    """What pa_opengraph states of an HTML page."""
    return lambda page: stated(opengraph.read(page.encode(), "text/html; charset=utf-8", URL).found)
