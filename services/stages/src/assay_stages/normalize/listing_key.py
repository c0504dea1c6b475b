"""The key of a listing: which thing of a source a capture is about, before anything on the page is believed."""

from assay_stages.normalize.urls import resolve, without_tracking

FILE_PREFIX = "file:"


def listing_key(given: str | None, url: str | None) -> str | None:
    """Return the key that the sender gave, else the requested URL less fragment and tracking; None without both.

    A given key, such as a feed's row id or `file:<path>`, is taken as it is.
    """
    if given:
        return given
    if url is None or url.startswith(FILE_PREFIX):
        return url
    resolved = resolve(url, None)
    return None if resolved is None else without_tracking(resolved)
