"""Finds what there is to capture, in a file, a folder or a list of URLs, and hands it in."""

import gzip
import hashlib
import json
import mimetypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NoReturn, cast
from urllib.parse import urlsplit

import httpx
from assay_contracts.bounds import MEDIA_TYPE
from assay_contracts.encoder import encode_document
from assay_contracts.ids import CatalogId, SourceId
from assay_contracts.messages import CaptureRequest, DeclaredArtifact
from assay_contracts.timestamps import Timestamp, timestamp
from pydantic import ValidationError

from assay_cli.client import Client, Document
from assay_cli.errors import CommandError, Refused

MANIFEST: Final = "captures.jsonl"
FETCH_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Page:
    """Something to capture: its bytes, and what its source said when it was fetched. key: for what has no URL."""

    content: bytes
    media_type: str
    observed_at: Timestamp
    fetch_status: int
    url: str | None
    key: str | None
    host: str | None

    @property
    def name(self) -> str:
        """What a person calls it."""
        return self.url or self.key or ""


Missed = Callable[[str, str], None]
"""Told the name of a page that cannot be read, and why."""


def _stop(name: str, why: str) -> NoReturn:
    raise CommandError(f"{name}: {why}")


def find_pages(path: Path, missed: Missed = _stop) -> Iterator[Page]:
    """Pages of a folder (its captures.jsonl, if it has one, else every file), of a .txt list of URLs, or of a file."""
    if path.is_dir():
        manifest = path / MANIFEST
        yield from _listed(manifest, missed) if manifest.exists() else _below(path)
    elif path.suffix == ".txt":
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                yield from _fetch(line.strip(), missed)
    elif path.exists():
        yield _file(path, key=f"file:{path.name}")
    else:
        raise CommandError(f"there is no {path}")


def source_of(page: Page) -> str:
    """A source id made of the page's host; `src_files` for what has none."""
    host = page.host or (urlsplit(page.url).hostname if page.url else None)
    if not host:
        return "src_files"
    return "src_" + "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in host.lower())[:60]


def hand_in(client: Client, page: Page, catalog_id: str, source_id: str) -> Document:
    """Capture a page; doing it again with the same bytes, name and moment gets the same receipt.

    Raises Refused, also for what intake need not be asked about.
    """
    return client.hand_in(_metadata(page, catalog_id, source_id), {"page": (page.content, page.media_type)})


def _metadata(page: Page, catalog_id: str, source_id: str) -> bytes:
    try:
        return encode_document(_request(page, catalog_id, source_id))
    except ValidationError as failure:
        first = failure.errors()[0]
        place = "/".join(str(part) for part in first["loc"])
        raise Refused(
            httpx.codes.UNPROCESSABLE_ENTITY, "invalid", "The page cannot be captured so", f"{place}: {first['msg']}"
        ) from failure


def _request(page: Page, catalog_id: str, source_id: str) -> CaptureRequest:
    return CaptureRequest(
        schema_version="capture/1",
        idempotency_key=_idempotency_key(page, catalog_id, source_id),
        catalog_id=CatalogId(catalog_id),
        source_id=SourceId(source_id),
        url=page.url,
        key=page.key,
        observed_at=page.observed_at,
        fetch_status=page.fetch_status,
        artifacts=(DeclaredArtifact(part="page", media_type=page.media_type),),
        pins=None,
    )


def _idempotency_key(page: Page, catalog_id: str, source_id: str) -> str:
    parts = (catalog_id, source_id, page.name, page.observed_at, hashlib.sha256(page.content).hexdigest())
    return "cli-" + hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _listed(manifest: Path, missed: Missed) -> Iterator[Page]:
    for number, line in enumerate(manifest.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                yield _entry(manifest, line)
            except (ValueError, LookupError, TypeError, OSError) as failure:
                missed(f"{manifest} line {number}", str(failure))


def _entry(manifest: Path, line: str) -> Page:
    entry = cast("dict[str, str | int]", json.loads(line))
    path = manifest.parent / str(entry["file"])
    page = _file(path, key=None if "url" in entry else f"file:{entry['file']}")
    return Page(
        content=page.content,
        media_type=page.media_type,
        observed_at=Timestamp(str(entry.get("observed_at", page.observed_at))),
        fetch_status=int(entry.get("fetch_status", 200)),
        url=str(entry["url"]) if "url" in entry else None,
        key=page.key,
        host=str(entry["source"]) if "source" in entry else None,
    )


def _below(folder: Path) -> Iterator[Page]:
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.is_file() and not hidden:
            yield _file(path, key=f"file:{path.relative_to(folder).as_posix()}")


def _file(path: Path, key: str | None) -> Page:
    """A file as it was fetched: one that ends in .gz was only stored compressed."""
    content = path.read_bytes()
    name = path.name
    if path.suffix == ".gz":
        content, name = gzip.decompress(content), path.stem
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    modified = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return Page(content, media_type, timestamp(modified), 200, None, key, None)


def _fetch(url: str, missed: Missed) -> Iterator[Page]:
    try:
        answer = httpx.get(url, timeout=FETCH_SECONDS, follow_redirects=True)
    except (httpx.HTTPError, httpx.InvalidURL) as failure:
        return missed(url, f"cannot be fetched: {failure}")
    media_type = answer.headers.get("content-type", "application/octet-stream")[:MEDIA_TYPE]
    yield Page(answer.content, media_type, timestamp(datetime.now(UTC)), answer.status_code, url, None, None)
