"""① What a client hands in: metadata, checked before anything else is read, then artifacts, spooled and hashed."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from urllib.parse import quote

from assay_contracts import bounds
from assay_contracts.decoder import decode_document
from assay_contracts.encoder import encode_document
from assay_contracts.messages import CaptureRequest, DeclaredArtifact
from assay_contracts.timestamps import moment
from starlette.requests import ClientDisconnect, Request

from assay_intake.errors import (
    ArtifactMismatch,
    ArtifactTooLarge,
    ClientGone,
    KeyMismatch,
    MetadataNotFirst,
    MissingArtifact,
    NameTooLong,
    ObservedOutOfRange,
    ReservedKey,
    ReservedSource,
    UnexpectedPart,
)
from assay_intake.multipart import PartStream, boundary_of
from assay_intake.spool import Spool, SpoolFile

METADATA: Final = "metadata"
PEOPLE: Final = "src_people"
"""The reserved source of what persons state; only a decision writes for it."""
STATEMENTS: Final = "statement:"
"""How the idempotency keys of persons' statements begin."""
KEPT_IN_URLS: Final = "!#$%&'()*+,/:;=?@[]~"
AHEAD: Final = timedelta(minutes=5)
"""How far a client's clock may be ahead of ours."""
FIRST_MOMENT: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class ReceivedArtifact:
    """An artifact that is whole, on the spool."""

    part: str
    media_type: str
    sha256: str
    size_bytes: int
    path: Path


@dataclass(frozen=True)
class Upload:
    """A capture that is whole and valid, and belongs to nobody yet."""

    request: CaptureRequest
    observed_at: datetime
    received_at: datetime
    artifacts: tuple[ReceivedArtifact, ...]

    def digest(self) -> bytes:
        """SHA-256 that two requests share exactly if they say the same.

        It covers the request with every artifact's true hash and length in it, never the raw body, whose boundary
        changes with each retry.
        """
        artifacts = tuple(
            DeclaredArtifact(part=found.part, media_type=found.media_type, sha256=found.sha256, bytes=found.size_bytes)
            for found in self.artifacts
        )
        return hashlib.sha256(encode_document(self.request.model_copy(update={"artifacts": artifacts}))).digest()


def open_parts(request: Request) -> PartStream:
    """The parts of the request's body; nothing of it has been read yet."""
    boundary = boundary_of(request.headers.get("content-type"))
    return PartStream(_chunks(request), boundary, max_parts=1 + bounds.ARTIFACTS)


async def read_metadata(parts: PartStream, header_key: str | None) -> CaptureRequest:
    """The first part, decoded; `header_key` is the Idempotency-Key header, which may only repeat what it says."""
    if await parts.next_part() != METADATA:
        raise MetadataNotFirst
    data = bytearray()
    async for chunk in parts.data():
        data += chunk
        if len(data) > bounds.DOCUMENT_BYTES:
            break
    request = decode_document("capture.v1", bytes(data))
    if header_key is not None and header_key != request.idempotency_key:
        raise KeyMismatch
    if request.source_id == PEOPLE:
        raise ReservedSource
    if request.idempotency_key.startswith(STATEMENTS):
        raise ReservedKey
    if any(len(_written(name)) > bounds.URL for name in (request.url, request.key) if name is not None):
        raise NameTooLong(f"url and key may have {bounds.URL} bytes, a url once its letters are percent-encoded.")
    return request


def _written(name: str) -> bytes:
    """A listing's name as it is kept: a URL in ASCII, a key in UTF-8."""
    return quote(name, safe=KEPT_IN_URLS).encode() if name.startswith(("http://", "https://")) else name.encode()


def observed_moment(request: CaptureRequest, received_at: datetime) -> datetime:
    """When the source was seen: as stated, but never later than when we heard of it."""
    observed_at = moment(request.observed_at)
    if not FIRST_MOMENT <= observed_at <= received_at + AHEAD:
        raise ObservedOutOfRange
    return min(observed_at, received_at)


async def read_artifacts(
    parts: PartStream, request: CaptureRequest, spool: Spool, max_bytes: int, held: ExitStack
) -> tuple[ReceivedArtifact, ...]:
    """The parts that the metadata lists, in its order, and nothing after them; `held` closes their files."""
    _refuse_stated_excess(request, max_bytes)
    artifacts = [await _read_artifact(parts, declared, spool, max_bytes, held) for declared in request.artifacts]
    if await parts.next_part() is not None:
        raise UnexpectedPart("The body has a part after the last artifact that the metadata lists.")
    return tuple(artifacts)


def _refuse_stated_excess(request: CaptureRequest, max_bytes: int) -> None:
    for declared in request.artifacts:
        if declared.bytes is not None and declared.bytes > max_bytes:
            raise ArtifactTooLarge(f"{declared.part} may have {max_bytes} bytes.")


async def _read_artifact(
    parts: PartStream, declared: DeclaredArtifact, spool: Spool, max_bytes: int, held: ExitStack
) -> ReceivedArtifact:
    name = await parts.next_part()
    if name is None:
        raise MissingArtifact(f"{declared.part} did not come.")
    if name != declared.part:
        raise UnexpectedPart(f"{declared.part} should come here.")
    file = spool.open()
    held.callback(file.close)
    async for chunk in parts.data():
        if file.size_bytes + len(chunk) > max_bytes:
            raise ArtifactTooLarge(f"{declared.part} may have {max_bytes} bytes.")
        file.write(chunk)
    return _compare(declared, file)


def _compare(declared: DeclaredArtifact, file: SpoolFile) -> ReceivedArtifact:
    sha256 = file.sha256()
    if declared.bytes not in (None, file.size_bytes):
        raise ArtifactMismatch(f"{declared.part} has {file.size_bytes} bytes.")
    if declared.sha256 not in (None, sha256):
        raise ArtifactMismatch(f"{declared.part} has sha256 {sha256}.")
    return ReceivedArtifact(declared.part, declared.media_type, sha256, file.size_bytes, file.path)


async def _chunks(request: Request) -> AsyncIterator[bytes]:
    try:
        async for chunk in request.stream():
            yield chunk
    except ClientDisconnect:
        raise ClientGone from None
