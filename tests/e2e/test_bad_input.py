"""Bad input gets a clear answer and takes nothing with it."""

import select
import socket
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
    answer, sent_bytes = _send_until_answered(shop)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"application/problem+json" in answer
    assert LIMIT_BYTES < sent_bytes < 2 * LIMIT_BYTES
    assert shop.ended(shop.hand_in(page_of(offered_twice(2)[2])))["state"] == "done"


def _send_until_answered(shop: Shop) -> tuple[bytes, int]:
    """Offer four times the limit; the beginning of the answer, and how much was sent before it came."""
    address = httpx.URL(shop.client.addresses["intake"])
    with socket.create_connection((address.host, address.port or 80), timeout=60) as connection:
        connection.sendall(_head(shop))
        for number in range(4 * LIMIT_BYTES // len(CHUNK)):
            connection.sendall(b"%x\r\n%b\r\n" % (len(CHUNK), CHUNK))
            if select.select([connection], [], [], 0)[0]:
                return connection.recv(4096), (number + 1) * len(CHUNK)
    raise AssertionError("everything was taken")


def _head(shop: Shop) -> bytes:
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
    body = (
        b'--cut\r\nContent-Disposition: form-data; name="metadata"\r\nContent-Type: application/json\r\n\r\n'
        + encode_document(request)
        + b'\r\n--cut\r\nContent-Disposition: form-data; name="page"; filename="p"\r\n'
        + b"Content-Type: text/html\r\n\r\n"
    )
    head = (
        "POST /v1/captures HTTP/1.1\r\nHost: intake\r\nTransfer-Encoding: chunked\r\n"
        f"Authorization: {shop.client.http.headers['Authorization']}\r\n"
        "Content-Type: multipart/form-data; boundary=cut\r\n\r\n"
    )
    return head.encode() + b"%x\r\n%b\r\n" % (len(body), body)
