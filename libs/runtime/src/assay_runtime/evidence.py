"""Evidence bytes in an S3 bucket, each object named by its tenant and its own sha256 and written at most once."""

import asyncio
import base64
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Protocol, Self, cast
from uuid import uuid4

import aiohttp
from aiobotocore.config import AioConfig
from aiobotocore.session import AioSession
from assay_contracts.evidence import evidence_uri as ref_for
from assay_contracts.evidence import read_evidence_uri as parse_ref
from botocore.exceptions import BotoCoreError, ClientError

from assay_runtime.errors import EvidenceMismatch, EvidenceMissing, EvidenceStoreUnfit, EvidenceUnavailable
from assay_runtime.settings import EvidenceSettings

__all__ = [
    "EvidenceMismatch",
    "EvidenceMissing",
    "EvidenceStore",
    "EvidenceStoreUnfit",
    "EvidenceUnavailable",
    "parse_ref",
    "ref_for",
]

CHUNK_BYTES: Final = 1 << 16
CALL_SECONDS: Final = 60.0
"""The end of any one call: the client's own limits do not cover a server that never says `100 Continue`."""
CONFLICT_ATTEMPTS: Final = 4
CONFLICT_PAUSE_SECONDS: Final = 0.1
PROOF_PREFIX: Final = "assay-proof"

_CONNECT_SECONDS: Final = 3
_READ_SECONDS: Final = 20
_PRESENT = 412
_CONFLICT = 409


_OperationName = Literal["put_object", "get_object", "head_object", "delete_object", "list_objects_v2"]


class _Body(Protocol):
    async def read(self, amount: int | None = None) -> bytes: ...
    def close(self) -> None: ...


class _Operation(Protocol):
    """One call of an S3 client, typed where aiobotocore is not."""

    async def __call__(self, **request: object) -> Mapping[str, object]: ...


class _S3(Protocol):
    """The calls that evidence needs."""

    put_object: _Operation
    get_object: _Operation
    head_object: _Operation
    delete_object: _Operation
    list_objects_v2: _Operation


class EvidenceStore:
    """One client for the life of a process: `async with EvidenceStore(settings) as store`."""

    def __init__(self, settings: EvidenceSettings) -> None:
        """Connects on entering, not here."""
        self._settings = settings
        self._stack = AsyncExitStack()
        self._client: _S3 | None = None

    async def __aenter__(self) -> Self:
        context = AioSession().create_client(  # pyright: ignore[reportUnknownMemberType] - aiobotocore has no types
            "s3",
            endpoint_url=self._settings.s3_endpoint,
            region_name=self._settings.s3_region,
            aws_access_key_id=self._settings.s3_access_key.get_secret_value(),
            aws_secret_access_key=self._settings.s3_secret_key.get_secret_value(),
            config=AioConfig(
                connect_timeout=_CONNECT_SECONDS,
                read_timeout=_READ_SECONDS,
                retries={"total_max_attempts": 2, "mode": "standard"},
                s3={"addressing_style": "path"},
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            ),
        )
        self._client = cast("_S3", await self._stack.enter_async_context(context))
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._client = None
        await self._stack.aclose()

    async def put(self, tenant: str, sha256: str, content: Path | bytes, media_type: str) -> bool:
        """Store bytes once; True if they are new, False if the same bytes were there.

        The digest is checked before anything is sent, sent along for the store to check, and compared with what is
        stored if the name is taken. EvidenceMismatch: content or stored object has another digest.
        """
        if await asyncio.to_thread(_digest, content) != sha256:
            raise EvidenceMismatch(f"the bytes to store are not {sha256}")
        key = f"{tenant}/{sha256}"
        if await self._put_if_absent(key, content, sha256, media_type):
            return True
        if not await self._is_stored(key, sha256, _length(content)):
            raise EvidenceMismatch(f"the object {key} holds other bytes")
        return False

    async def get(self, ref: str) -> bytes:
        """All bytes of a reference, checked against its sha256. EvidenceMissing, EvidenceMismatch."""
        sha256 = parse_ref(ref).sha256
        digest, chunks = hashlib.sha256(), list[bytes]()
        async with self.open(ref) as stream:
            async for chunk in stream:
                digest.update(chunk)
                chunks.append(chunk)
        if digest.hexdigest() != sha256:
            raise EvidenceMismatch(f"the object of {ref} holds other bytes")
        return b"".join(chunks)

    @asynccontextmanager
    async def open(self, ref: str, first: int = 0) -> AsyncGenerator[AsyncIterator[bytes]]:
        """Stream a reference in chunks of at most 64 KiB, unchecked: who reads to the end can check the sha256.

        first: the byte to begin at, which the object must have.
        """
        stored = parse_ref(ref)
        body = await self._body(f"{stored.tenant_id}/{stored.sha256}", first)
        try:
            yield _chunks(body)
        finally:
            body.close()

    async def keys(self) -> AsyncIterator[str]:
        """The name of every object in the bucket, in order, whoever put it there."""
        more: dict[str, object] = {}
        while True:
            try:
                answer = await self._call("list_objects_v2", **more)
            except ClientError as error:
                raise _unavailable(error) from error
            for entry in cast("Sequence[Mapping[str, str]]", answer.get("Contents", ())):
                yield entry["Key"]
            if not answer.get("IsTruncated"):
                return
            more = {"ContinuationToken": answer["NextContinuationToken"]}

    async def prove_conditional_puts(self) -> None:
        """Refuse, with EvidenceStoreUnfit, a store where a second writer could replace the first one's object."""
        key = f"{PROOF_PREFIX}/{uuid4().hex}"
        first, second = b"first", b"second"
        if not await self._put_if_absent(key, first, _digest(first), "text/plain"):
            raise EvidenceStoreUnfit("a new name was refused as taken")
        try:
            if await self._put_if_absent(key, second, _digest(second), "text/plain"):
                raise EvidenceStoreUnfit("If-None-Match is ignored")
        finally:
            await self._call("delete_object", Key=key)

    async def _put_if_absent(self, key: str, content: Path | bytes, sha256: str, media_type: str) -> bool:
        for _ in range(CONFLICT_ATTEMPTS):
            try:
                await self._send(key, content, sha256, media_type)
            except ClientError as error:
                status = _status(error)
                if status == _PRESENT:
                    return False
                if status != _CONFLICT:
                    raise _unavailable(error) from error
                await asyncio.sleep(CONFLICT_PAUSE_SECONDS)
            else:
                return True
        raise EvidenceUnavailable(f"{key}: others kept writing it")

    async def _send(self, key: str, content: Path | bytes, sha256: str, media_type: str) -> None:
        body = content if isinstance(content, bytes) else await asyncio.to_thread(content.open, "rb")
        try:
            await self._call(
                "put_object",
                Key=key,
                Body=body,
                ContentLength=_length(content),
                ContentType=media_type,
                IfNoneMatch="*",
                ChecksumSHA256=base64.b64encode(bytes.fromhex(sha256)).decode(),
            )
        finally:
            if not isinstance(body, bytes):
                body.close()

    async def _is_stored(self, key: str, sha256: str, length: int) -> bool:
        """Whether the stored object is this one; the store's own checksum is believed, an ETag is not."""
        try:
            head = await self._call("head_object", Key=key, ChecksumMode="ENABLED")
        except ClientError as error:
            raise _unavailable(error) from error
        if head["ContentLength"] != length:
            return False
        checksum = head.get("ChecksumSHA256")
        if isinstance(checksum, str) and head.get("ChecksumType", "FULL_OBJECT") == "FULL_OBJECT":
            return base64.b64decode(checksum).hex() == sha256
        return await self._hash_stored(key) == sha256

    async def _hash_stored(self, key: str) -> str:
        digest = hashlib.sha256()
        body = await self._body(key)
        try:
            async for chunk in _chunks(body):
                digest.update(chunk)
        finally:
            body.close()
        return digest.hexdigest()

    async def _body(self, key: str, first: int = 0) -> _Body:
        part = {"Range": f"bytes={first}-"} if first else {}
        try:
            answer = await self._call("get_object", Key=key, **part)
        except ClientError as error:
            if _code(error) in {"NoSuchKey", "404"}:
                raise EvidenceMissing(key) from error
            raise _unavailable(error) from error
        return cast("_Body", answer["Body"])

    async def _call(self, operation: _OperationName, **request: object) -> Mapping[str, object]:
        """Ask the store; a refusal stays a ClientError, silence becomes EvidenceUnavailable."""
        if self._client is None:
            raise EvidenceUnavailable("the client is closed")
        try:
            async with asyncio.timeout(CALL_SECONDS):
                return await _operation(self._client, operation)(Bucket=self._settings.s3_bucket, **request)
        except TimeoutError:
            raise EvidenceUnavailable(f"no answer within {CALL_SECONDS} s") from None
        except (BotoCoreError, aiohttp.ClientError, OSError) as error:
            raise EvidenceUnavailable(str(error)) from error


def _operation(client: _S3, name: _OperationName) -> _Operation:
    operations = {
        "put_object": client.put_object,
        "get_object": client.get_object,
        "head_object": client.head_object,
        "delete_object": client.delete_object,
        "list_objects_v2": client.list_objects_v2,
    }
    return operations[name]


async def _chunks(body: _Body) -> AsyncIterator[bytes]:
    try:
        while chunk := await body.read(CHUNK_BYTES):
            yield chunk
    except (BotoCoreError, aiohttp.ClientError, TimeoutError, OSError) as error:
        raise EvidenceUnavailable(str(error)) from error


def _unavailable(error: ClientError) -> EvidenceUnavailable:
    """Whatever else the store refuses (credentials, bucket, overload) says nothing about the evidence."""
    return EvidenceUnavailable(f"{_code(error)}: {error}")


def _code(error: ClientError) -> str:
    return str(_refusal(error).get("Error", {}).get("Code", ""))


def _status(error: ClientError) -> object:
    return _refusal(error).get("ResponseMetadata", {}).get("HTTPStatusCode")


def _refusal(error: ClientError) -> Mapping[str, Mapping[str, object]]:
    return cast("Mapping[str, Mapping[str, object]]", error.response)


def _digest(content: Path | bytes) -> str:
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    with content.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _length(content: Path | bytes) -> int:
    return len(content) if isinstance(content, bytes) else content.stat().st_size
