"""Addresses: resolved against the page they stand on, and written in one way."""

import re
from typing import Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit, urlunsplit

MAX_URL = 2_048

TRACKING_VERSION: Final = 1
"""Raise it with every change of the two lists below: they decide which listing a URL is."""

_TRACKING = frozenset({"gclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "mc_cid", "mc_eid", "srsltid"})
_TRACKING_PREFIX = "utm_"

_DEFAULT_PORTS = {"http": 80, "https": 443}
_KEPT = "!#$%&'()*+,/:;=?@[]~"


def resolve(raw: str, base: str | None) -> str | None:
    """Return an absolute http(s) URL with lower-case scheme and host and ASCII text; None if there is none."""
    stripped = re.sub(r"[\t\r\n]", "", raw.strip())
    try:
        parts = urlsplit(urljoin(base or "", stripped))
        host = _host(parts)
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS or not host:
        return None
    path = quote(parts.path or "/", safe=_KEPT)
    return urlunsplit((parts.scheme, host, path, quote(parts.query, safe=_KEPT), quote(parts.fragment, safe=_KEPT)))


def without_tracking(url: str) -> str:
    """Return a resolved URL less fragment and tracking, its query sorted."""
    parts = urlsplit(url)
    kept = sorted(pair for pair in parts.query.split("&") if pair and not _is_tracking(pair))
    return urlunsplit((parts.scheme, parts.netloc, parts.path, "&".join(kept), ""))


def page_address(raw: str, base: str | None) -> str | None:
    """Return what two URLs of one page share: host without www, path without a last slash, query less tracking."""
    url = resolve(raw, base)
    if url is None:
        return None
    parts = urlsplit(without_tracking(url))
    address = parts.netloc.removeprefix("www.") + parts.path.rstrip("/")
    return f"{address}?{parts.query}" if parts.query else address


def _is_tracking(pair: str) -> bool:
    name = pair.partition("=")[0].lower()
    return name in _TRACKING or name.startswith(_TRACKING_PREFIX)


def _host(parts: SplitResult) -> str:
    """Return host and any unusual port, without user information; an internationalised name in its ASCII form."""
    host = (parts.hostname or "").rstrip(".")
    try:
        host = host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        return ""
    host = f"[{host}]" if ":" in host else host
    port = parts.port
    return host if not host or port is None or port == _DEFAULT_PORTS.get(parts.scheme) else f"{host}:{port}"
