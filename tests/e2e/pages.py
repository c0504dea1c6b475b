"""Pages made for a test: small, honest shops whose catalog can be told in advance."""

import json
from dataclasses import dataclass

from assay_cli.captures import Page
from assay_contracts.timestamps import Timestamp

OBSERVED = Timestamp("2026-02-01T10:00:00Z")
HTML = "text/html"


@dataclass(frozen=True, slots=True)
class Product:
    """What a page states; two products with one gtin are one item."""

    shop: str
    number: int
    gtin: str
    price: str

    @property
    def url(self) -> str:
        return f"https://{self.shop}.example/p/{self.number}"

    @property
    def source_id(self) -> str:
        return f"src_{self.shop}"


def gtin_of(number: int) -> str:
    """A valid GTIN-14 text of an ordinary GTIN-13 for each number below a million."""
    body = f"4006{number:08d}"
    check = -sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(body)) % 10
    return f"0{body}{check}"


def offered_twice(items: int) -> list[Product]:
    """Each item at two shops, for different prices."""
    return [
        Product(shop, number, gtin_of(number), f"{number % 90 + 10}.{fraction}")
        for number in range(items)
        for shop, fraction in (("alpha", "25"), ("beta", "75"))
    ]


def page_of(product: Product, observed_at: Timestamp = OBSERVED) -> Page:
    """The product's page as a capture."""
    words = _WORDS[product.number % len(_WORDS)]
    document = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": f"{words} {product.number}",
        "gtin13": product.gtin[1:],
        "offers": {
            "@type": "Offer",
            "price": product.price,
            "priceCurrency": "EUR",
            "availability": "https://schema.org/InStock",
        },
    }
    return html(product.url, f'<script type="application/ld+json">{json.dumps(document)}</script>', observed_at)


def html(url: str, body: str, observed_at: Timestamp = OBSERVED) -> Page:
    """A page with any body."""
    content = f"<!doctype html><html><head><title>page</title></head><body>{body}</body></html>".encode()
    return Page(content, HTML, observed_at, 200, url, None, None)


_WORDS = ("Amber kettle", "Birch shelf", "Copper ladle", "Denim apron", "Elm stool", "Felt slipper", "Glass carafe")
