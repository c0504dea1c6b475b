"""Finds what there is to capture, in a file, a folder or a list of URLs, and hands it in."""

import gzip
import hashlib
import json
import mimetypes
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, cast
from urllib.parse import urlsplit

import httpx
from assay_contracts.bounds import MEDIA_TYPE
from assay_contracts.encoder import encode_document
from assay_contracts.ids import CatalogId, SourceId
from assay_contracts.messages import CaptureRequest, DeclaredArtifact
from assay_contracts.timestamps import Timestamp, timestamp

from assay_cli.client import Client, Document
from assay_cli.errors import CommandError

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


def find_pages(path: Path) -> Iterator[Page]:
    """Pages of a folder (its captures.jsonl, if it has one, else every file), of a .txt list of URLs, or of a file."""
    if path.is_dir():
        manifest = path / MANIFEST
        yield from _listed(manifest) if manifest.exists() else _below(path)
    elif path.suffix == ".txt":
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                yield _fetch(line.strip())
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
    """Capture a page; doing it again with the same bytes, name and moment gets the same receipt."""
    request = CaptureRequest(
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
    return client.hand_in(encode_document(request), {"page": (page.content, page.media_type)})


def _idempotency_key(page: Page, catalog_id: str, source_id: str) -> str:
    parts = (catalog_id, source_id, page.name, page.observed_at, hashlib.sha256(page.content).hexdigest())
    return "cli-" + hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _listed(manifest: Path) -> Iterator[Page]:
    for number, line in enumerate(manifest.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            yield _entry(manifest, number, line)


def _entry(manifest: Path, number: int, line: str) -> Page:
    try:
        entry = cast("dict[str, str | int]", json.loads(line))
        path = manifest.parent / str(entry["file"])
        page = _file(path, key=None if "url" in entry else f"file:{entry['file']}")
    except (ValueError, KeyError, OSError) as failure:
        raise CommandError(f"{manifest} line {number}: {failure}") from failure
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
        if path.is_file() and not path.name.startswith("."):
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


def _fetch(url: str) -> Page:
    try:
        answer = httpx.get(url, timeout=FETCH_SECONDS, follow_redirects=True)
    except httpx.HTTPError as failure:
        raise CommandError(f"{url} cannot be fetched: {failure}") from failure
    media_type = answer.headers.get("content-type", "application/octet-stream")[:MEDIA_TYPE]
    return Page(answer.content, media_type, timestamp(datetime.now(UTC)), answer.status_code, url, None, None)
