"""Pages are strangers' work: each ends as broken or nothing or with few facts, never in an exception."""

import json
import time
import tracemalloc

import pytest
from assay_stages.extract import adapters
from assay_stages.extract.facts import MAX_FACTS, Found, to_json
from assay_stages.extract.page import MAX_PAGE_BYTES
from hypothesis import given
from hypothesis import strategies as st

CPU_SECONDS = 5.0
"""Far above what these pages take (0.1 to 1 s here), far below what they take without bounds (16 s and more)."""


def script(data: bytes) -> bytes:
    return b'<script type="application/ld+json">' + data + b"</script>"


def read(page: bytes) -> list[Found]:
    return [adapter.read(page, "text/html", "https://shop.example/") for adapter in adapters.select(None)]


@pytest.mark.parametrize(
    "page",
    [b"", b"\0" * 1_000, bytes(range(256)) * 40, b"a" * (MAX_PAGE_BYTES + 1), b"<!--", b"\x89PNG\r\n\x1a\n\0\0\0\r"],
    ids=["empty", "zeros", "binary", "too big", "no element", "image"],
)
def test_what_cannot_be_read_is_broken(page: bytes) -> None:
    assert {found.outcome for found in read(page)} == {"broken"}


PRODUCT = b'{"@type":"Product","name":"K","offers":'
WIDE = b'<div itemscope itemtype="Product">' + b"<i>x</i>" * 500_000 + b'<i itemprop="image">1</i>' * 3_000

COSTLY = {
    "attributes": b"<div " + b" ".join(b"a%d" % n for n in range(200_000)) + b">",
    "siblings": WIDE,
    "nested texts": b'<p itemscope itemtype="Product">' + b'<b itemprop="name">' * 240 + b"<i></i>" * 300_000,
    "deep markup": b"<div itemscope itemprop=a>" * 150_000,
    "deep lists": script(b"[" * 200_000),
    "deep objects": script(b'{"a":' * 200_000),
    "many scalars": script(PRODUCT + b"[" + b"1," * 1_000_000 + b"1]}"),
    "many offers": script(PRODUCT + b"[" + b",".join(b'{"sku":"%d","price":1}' % n for n in range(80_000)) + b"]}"),
    "many products": script(b"[" + b",".join(b'{"@type":"Product","name":"%d"}' % n for n in range(80_000)) + b"]"),
    "long key": script(b'{"@type":"Product","name":"K","' + b"k" * 100_000 + b'":[' + b"1," * 48_999 + b"1]}"),
    "offers by reference": script(
        b'[{"@type":"Product","name":"K","hasVariant":['
        + b'{"@id":"v"},' * 1_999
        + b'{"@id":"v"}]},{"@id":"v","offers":['
        + b'{"@id":"o"},' * 999
        + b'{"@id":"o"}]},{"@id":"o","offers":['
        + b'{"@id":"p"},' * 999
        + b'{"@id":"p"}]},{"@id":"p","sku":"x"}]'
    ),
    "long text": script(b'{"@type":"Product","name":"K","description":"' + b"&lt;" * 1_000_000 + b'"}'),
    "long number": script(PRODUCT + b'{"price":' + b"1" * 1_000_000 + b"}}"),
    "many metas": b'<meta property="og:type" content="product"><meta property="og:image" content="/k">' * 50_000,
    "unclosed quote": b'<a x="' + b"<a x='" * 500_000,
}


@pytest.mark.parametrize("name", list(COSTLY))
def test_a_costly_page_ends_within_bounds(name: str) -> None:
    started = time.process_time()
    for found in read(COSTLY[name]):
        assert len(found.found) <= MAX_FACTS
        assert len(to_json(found.found)) < 1_000_000
    assert time.process_time() - started < CPU_SECONDS


SPECIFICATIONS = [{"priceType": ["z" * 50] * 2_000, "priceSpecification": [{"priceType": ["z" * 40] * 30}] * 10}] * 10
SHARED = {
    "variants": [
        {"@type": "ProductGroup", "name": "K", "hasVariant": [{"@id": "v"}] * 2_000},
        {"@id": "v", "offers": [{"@id": "o"}] * 1_000},
        {"@id": "o", "offers": [{"@id": "p"}] * 1_000},
        {"@id": "p", "availability": "x" * 20_000, "priceSpecification": [{"priceType": "z" * 2_000}] * 10},
    ],
    "variants without offers": [
        {"@type": "ProductGroup", "name": "K", "hasVariant": [{"@id": "v"}] * 40_000},
        {"@id": "v", "sku": "x" * 20_000, "priceSpecification": SPECIFICATIONS},
    ],
    "specifications": [
        {"@type": "Product", "name": "K", "offers": [{"@id": "o"}] * 1_000},
        {"@id": "o", "priceSpecification": SPECIFICATIONS},
    ],
    "aggregates": [
        {"@type": "Product", "name": "K", "offers": [{"@id": f"a{n}"} for n in range(40)]},
        *({"@id": f"a{n}", "offers": [{"@id": "o", "@context": n} for n in range(1_000)]} for n in range(40)),
        {"@id": "o", "sku": "\u00e9" * 20_000, "priceCurrency": "x" * 20_000},
    ],
}
REPEATED = b'<div itemscope itemtype="Product"><i itemprop="name">K</i><div itemscope itemprop="offers">'


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", list(SHARED))
def test_what_is_referred_to_many_times_is_read_once(name: str) -> None:
    found, _ = read(script(json.dumps(SHARED[name]).encode()))
    assert found.found[0].raw == "K"


@pytest.mark.timeout(60)
def test_a_value_stated_twice_under_one_name_is_read_once() -> None:
    found, _ = read(REPEATED + b'<div itemscope itemprop="priceSpecification pricespecification">' * 200)
    assert [fact.raw for fact in found.found] == ["K"]


def test_a_repeated_reference_takes_no_offer_from_those_behind_it() -> None:
    product = {"@type": "Product", "name": "K", "offers": [{"@id": "o"}] * 5_000 + [{"@id": "p"}]}
    offers = [{"@id": "o", "sku": "K-1", "price": "1"}, {"@id": "p", "sku": "K-2", "price": "2"}]
    found, _ = read(script(json.dumps([product, *offers]).encode()))
    assert [fact.raw for fact in found.found if fact.name == "price"] == ["1", "2"]


MEMORY = 60_000_000
"""Bytes: half more than these pages take at most, a fraction of what they took when each value spelt its place."""

SPACIOUS = {
    "long key": script(b'{"@type":"Product","name":"K","' + b"k" * 100_000 + b'":[' + b"1," * 48_999 + b"1]}"),
    "long key that fits": script(
        b'{"@type":"Product","name":"K","' + "\U0001f600".encode() * 950 + b'":[' + b"1," * 48_999 + b"1]}"
    ),
    "long keys, nested": script(b'{"@type":"Product","name":"K"' + (b',"' + b"k" * 10_000 + b'":{"a":1') * 20),
    "long tags": REPEATED
    + b"".join(b"<%s%d>" % (b"k" * 20_000, n) for n in range(100))
    + b"<i itemprop=a>1</i>" * 1_400,
    "many names": REPEATED + b'<i itemprop="' + b"a " * 2_400_000 + b'">1</i>',
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", list(SPACIOUS))
def test_a_page_takes_memory_within_bounds(name: str) -> None:
    tracemalloc.start()
    try:
        read(SPACIOUS[name])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MEMORY


@given(st.binary(max_size=300))
def test_no_bytes_raise(page: bytes) -> None:
    read(page)
    read(script(page))


@given(st.text(), st.text())
def test_no_media_type_or_address_raises(media_type: str, url: str) -> None:
    for adapter in adapters.select(None):
        adapter.read(script(PRODUCT + b'{"url":"//["}}'), "text/html;" + media_type, url)


@pytest.mark.parametrize(
    "encoding", ["rot13", "zip", "idna", "punycode", "undefined", "unicode_escape", "x-no-such", ""]
)
def test_what_is_no_encoding_of_text_is_read_as_utf_8(encoding: str) -> None:
    page = "<p>\\] ß</p>".encode() + script('{"@type":"Product","name":"Weißbrot"}'.encode())
    declared_in_page = f'<meta charset="{encoding}">'.encode() + page
    for media_type, data in ((f"text/html; charset={encoding}", page), ("text/html", declared_in_page)):
        (found,) = adapters.select("pa_schema_org@1.0.0")[0].read(data, media_type, None).found
        assert found.raw == "Weißbrot"
