"""What the small world's sources show: pages with a product in JSON-LD, and captures of them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

CATALOG = "cat_main"


def page(name: str, price: str, **more: object) -> bytes:
    """A page about one product."""
    offer = {"@type": "Offer", "price": price, "priceCurrency": "EUR", "availability": "InStock"}
    product = {"@context": "https://schema.org", "@type": "Product", "name": name, "offers": offer, **more}
    return f'<html><head><script type="application/ld+json">{json.dumps(product)}</script></head></html>'.encode()


@dataclass(frozen=True)
class Shown:
    """One capture to be made: whose, of what, from where."""

    tenant: str
    source: str
    path: str
    body: bytes
    status: int = 200
    pin: str | None = None

    @property
    def url(self) -> str:
        return f"https://{self.source.removeprefix('src_')}.example/{self.path}"

    @property
    def sha256(self) -> str:
        return sha256(self.body).hexdigest()


LAMP: Mapping[str, object] = {"brand": "Helio", "gtin13": "4006381333931", "mpn": "HL-2000"}
LAMP_PAGE = page("Helio Solar Garden Lamp", "12.50", **LAMP)
ALIKE = "Helio Solar Garden Lamp"

ONE, TWO = "ten_one", "ten_two"

STORY = (
    Shown(ONE, "src_alpha", "lamp", LAMP_PAGE),
    Shown(ONE, "src_beta", "lamp-2", page("Solar Garden Lamp HL-2000", "11.90", **LAMP)),
    Shown(ONE, "src_alpha", "chair", page("Oak Chair", "80", brand="Sitwell", gtin13="5901234123457", mpn="OC-7")),
    Shown(ONE, "src_beta", "desk", page("Standing Desk Titan", "300", brand="Deskly", sku="D-1")),
    Shown(ONE, "src_beta", "desk", b"<html><body>gone</body></html>", status=404),
    Shown(ONE, "src_alpha", "lamp", page("Helio Solar Garden Lamp", "9.99", **LAMP)),
    Shown(ONE, "src_alpha", "about", b"<html><body>We sell lamps.</body></html>"),
    Shown(ONE, "src_alpha", "pinned", page("Pinned Thing", "1"), pin="pa_no_such@9.9.9"),
    Shown(TWO, "src_alpha", "lamp", LAMP_PAGE),
)
"""In this order: created, mapped, created, created, gone, changed, nothing, given up on, and another tenant's."""

DOUBTFUL = (
    Shown(ONE, "src_gamma", "open", page(ALIKE, "13")),
    Shown(ONE, "src_gamma", "accepted", page(ALIKE, "14")),
    Shown(ONE, "src_gamma", "rejected", page(ALIKE, "15")),
)
"""Each looks like the lamp and says no key: a question stays open, one is accepted, one rejected."""

WAITING = (Shown(ONE, "src_alpha", "sent", page("Late Thing", "2")), Shown(ONE, "src_alpha", "unsent", b"<html/>"))
"""Accepted last: one waits in Kafka, one for the sweeper."""
