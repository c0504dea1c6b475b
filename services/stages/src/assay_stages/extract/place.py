"""Going back: what stands at a stated place of an artifact, read again from its bytes."""

from assay_stages.errors import PlaceNotFound
from assay_stages.extract.facts import RAW_KEPT, PlaceSyntax
from assay_stages.extract.page import Page


def read_at(page: bytes, media_type: str, place_syntax: PlaceSyntax, place: str) -> str:
    """Return the raw text at a place, cut as an adapter cuts it; PlaceNotFound if nothing stands there."""
    text = Page(page, media_type).text_at(place_syntax, place)
    if text is None:
        raise PlaceNotFound(place)
    return text[:RAW_KEPT]
