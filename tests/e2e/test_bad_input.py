"""Bad input gets a clear answer and takes nothing with it."""

import itertools
from collections.abc import Iterator
from dataclasses import replace

import httpx
from assay_cli.client import Document
from assay_cli.commands.output import rows_of
from assay_contracts.encoder import encode_document
from assay_contracts.ids import CatalogId, SourceId
from assay_contracts.messages import CapturePins, CaptureRequest, DeclaredArtifact

from .conftest import Open
from .pages import HTML, OBSERVED, html, offered_twice, page_of
from .shop import CATALOG, Shop

LIMIT_BYTES = 64 * 1024 * 1024
CHUNK = b"x" * (1024 * 1024)


def outcomes(capture: Document) -> dict[str, tuple[object, object]]:
    return {str(job["stage"]): (job["state"], job["outcome"]) for job in rows_of(capture["jobs"])}


def test_a_page_without_a_product_ends_as_nothing_found(open_shop: Open) -> None:
    shop = open_shop("ten_nothing")
    capture = shop.ended(shop.hand_in(html("https://blog.example/1", "<p>Only words.</p>")))
    assert capture["state"] == "done" and capture["outcome"] == "nothing"
    assert shop.items() == []


def test_a_broken_page_ends_visibly_and_the_next_one_is_read(open_shop: Open) -> None:
    shop = open_shop("ten_broken")
    broken = replace(html("https://odd.example/1", ""), content=b"\x00\x01\x02" * 1000)
    capture = shop.ended(shop.hand_in(broken))
    assert outcomes(capture)["extract"] == ("done", "broken")
    assert shop.ended(shop.hand_in(page_of(offered_twice(1)[0])))["state"] == "done"
    assert len(shop.items()) == 1


def test_an_unknown_pin_is_given_up_on_with_its_cause(open_shop: Open) -> None:
    shop = open_shop("ten_pinned")
    page = page_of(offered_twice(1)[0])
    shop.hand_in(replace(page, url="https://alpha.example/other"))
    request = CaptureRequest(
        schema_version="capture/1",
        idempotency_key="pinned-1",
        catalog_id=CatalogId(CATALOG),
        source_id=SourceId("src_alpha_example"),
        url=page.url,
        observed_at=OBSERVED,
        fetch_status=200,
        artifacts=(DeclaredArtifact(part="page", media_type=HTML),),
        pins=CapturePins(adapter="pa_schema_org@99.0.0"),
    )
    receipt = shop.client.hand_in(encode_document(request), {"page": (page.content, HTML)})
    capture = shop.ended(receipt)
    (job,) = rows_of(capture["jobs"])
    assert capture["state"] == "dead"
    assert job["state"] == "dead" and "pa_schema_org@99.0.0" in str(job["cause"])


def test_an_artifact_over_the_limit_is_refused_while_it_arrives(open_shop: Open) -> None:
    shop = open_shop("ten_large")
    shop.hand_in(page_of(offered_twice(1)[0]))
    sent = itertools.count()
    answer = _send_large(shop, sent)
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"
    assert next(sent) < 2 * LIMIT_BYTES / len(CHUNK)
    assert shop.ended(shop.hand_in(page_of(offered_twice(2)[2])))["state"] == "done"


def _send_large(shop: Shop, sent: "itertools.count[int]") -> httpx.Response:
    """Send four times the limit, or as much of it as intake lets in."""
    request = CaptureRequest(
        schema_version="capture/1",
        idempotency_key="large-1",
        catalog_id=CatalogId(CATALOG),
        source_id=SourceId("src_alpha_example"),
        url="https://alpha.example/large",
        observed_at=OBSERVED,
        fetch_status=200,
        artifacts=(DeclaredArtifact(part="page", media_type=HTML),),
        pins=None,
    )

    def body() -> Iterator[bytes]:
        yield b'--cut\r\nContent-Disposition: form-data; name="metadata"\r\nContent-Type: application/json\r\n\r\n'
        yield encode_document(request)
        yield b'\r\n--cut\r\nContent-Disposition: form-data; name="page"; filename="p"\r\n'
        yield b"Content-Type: text/html\r\n\r\n"
        for _ in range(4 * LIMIT_BYTES // len(CHUNK)):
            next(sent)
            yield CHUNK
        yield b"\r\n--cut--\r\n"

    headers = {"Content-Type": "multipart/form-data; boundary=cut"}
    address = f"{shop.client.addresses['intake']}/v1/captures"
    return shop.client.http.post(address, content=body(), headers=headers)
