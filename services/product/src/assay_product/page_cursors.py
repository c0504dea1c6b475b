"""⑧ where the next page begins. A page cursor names its generation, so that no list mixes two builds of a catalog."""

import base64
import binascii
from typing import NamedTuple

from assay_product.errors import StalePage


class Live(NamedTuple):
    """The build of a catalog that readers see, and how many events it has processed."""

    catalog_id: str
    history_epoch: str
    generation: int
    processed: int


def encode(live: Live, last_item_id: str) -> str:
    """The cursor of the page after this item."""
    text = f"{live.history_epoch}/{live.generation}/{last_item_id}"
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(live: Live, cursor: str | None) -> str:
    """The item after which the page begins, "" for the first; StalePage if the cursor is of another generation."""
    if cursor is None:
        return ""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
    except (binascii.Error, ValueError):
        raise StalePage from None
    head, _, item_id = text.rpartition("/")
    if head != f"{live.history_epoch}/{live.generation}" or not item_id.isidentifier():
        raise StalePage
    return item_id
