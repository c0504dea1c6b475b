"""Adapter pa_schema_org: the product that a page states in schema.org terms, as JSON-LD or as microdata."""

from assay_stages.extract import json_ld, microdata
from assay_stages.extract.facts import BROKEN, NOTHING, Found, RawFact, bounded
from assay_stages.extract.items import Graph
from assay_stages.extract.page import Page, is_html
from assay_stages.extract.product_facts import facts_of
from assay_stages.extract.products import Subject, choose, subject_of
from assay_stages.normalize.text import folded


def read(page: bytes, media_type: str, url: str | None) -> Found:
    """Read one page; JSON-LD first, microdata beside it unless the two speak of different products."""
    if not is_html(media_type):
        return NOTHING
    opened = Page(page, media_type)
    if opened.document is None:
        return BROKEN
    subject = subject_of(opened, url)
    scripted, products = _read_graph(json_ld.read(opened), subject, url)
    marked, marked_products = _read_graph(microdata.read(opened), subject, url)
    facts = bounded((*scripted, *(marked if _agree(scripted, marked) else ())))
    return Found("ok" if facts else "nothing", facts, max(products, marked_products))


def _read_graph(graph: Graph, subject: Subject, url: str | None) -> tuple[tuple[RawFact, ...], int]:
    product, products = choose(graph, subject, url)
    return (() if product is None else tuple(facts_of(product, graph))), products


def _agree(scripted: tuple[RawFact, ...], marked: tuple[RawFact, ...]) -> bool:
    """Tell whether two syntaxes can mean one product: a name is missing, within the other, or shares half its words."""
    ours, theirs = _name(scripted), _name(marked)
    if not ours or not theirs or ours in theirs or theirs in ours:
        return True
    words, others = set(ours.split()), set(theirs.split())
    return 2 * len(words & others) >= min(len(words), len(others))


def _name(facts: tuple[RawFact, ...]) -> str:
    return next((folded(fact.raw) for fact in facts if fact.name == "name"), "")
