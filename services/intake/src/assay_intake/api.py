"""Intake's HTTP face: hand in a capture, ask what became of it, read one's own receipts and evidence."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any, Final

from assay_contracts.encoder import encode_document
from assay_contracts.errors import InvalidMessage
from assay_contracts.evidence import evidence_uri
from assay_contracts.messages import CaptureRequest, Receipt
from assay_runtime.evidence import EvidenceStore
from assay_runtime.failpoints import failpoint
from assay_runtime.http import Credential, KeyRing, Limits, StoredKey, create_app, needs
from assay_runtime.logs import get_logger
from assay_runtime.postgres import AsyncPool, set_tenant
from fastapi import APIRouter, Depends, FastAPI, Header, Path, Request, Response
from fastapi.responses import StreamingResponse

from assay_intake import capture, evidence, receipt, store, views
from assay_intake.capture import ReceivedArtifact, Upload
from assay_intake.enqueue import Enqueuer
from assay_intake.errors import NotFound, Refused, UnknownCatalog, UnknownSource
from assay_intake.metrics import ARTIFACT_BYTES, CAPTURES
from assay_intake.multipart import PartStream
from assay_intake.receipt import Accepted
from assay_intake.settings import IntakeSettings
from assay_intake.spool import Spool

log = get_logger()
router = APIRouter(prefix="/v1")

_METADATA_REF: Final = (
    "#/paths/~1v1~1captures/post/requestBody/content/multipart~1form-data/schema/properties/metadata/$defs/{model}"
)
_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "description": "First `metadata` (capture.v1), then one part per artifact, named and ordered as it lists them.",
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["metadata"],
                    "properties": {"metadata": CaptureRequest.model_json_schema(ref_template=_METADATA_REF)},
                    "additionalProperties": {"type": "string", "format": "binary"},
                },
                "encoding": {"metadata": {"contentType": "application/json"}},
            }
        },
    }
}


class Intake:
    """What the routes work with, for the life of the process."""

    def __init__(
        self, settings: IntakeSettings, pool: AsyncPool, bucket: EvidenceStore, spool: Spool, enqueuer: Enqueuer
    ) -> None:
        self.pool = pool
        self.bucket = bucket
        self.max_artifact_bytes = settings.max_artifact_bytes
        self._spool = spool
        self._enqueuer = enqueuer

    async def accept(self, credential: Credential, parts: PartStream, header_key: str | None) -> Accepted:
        """From a body that has not been read to a committed receipt; the first job is on its way to Kafka."""
        received_at = datetime.now(UTC)
        request = await capture.read_metadata(parts, header_key)
        observed_at = capture.observed_moment(request, received_at)
        key_bound = await self._check_names(credential, request)
        with ExitStack() as held:
            artifacts = await capture.read_artifacts(parts, request, self._spool, self.max_artifact_bytes, held)
            upload = Upload(request, observed_at, received_at, artifacts)
            accepted = await self._keep(credential, upload, key_bound=key_bound)
        failpoint("intake.after_commit")
        if accepted.first_job is not None:
            self._enqueuer.enqueue(accepted.first_job)
        _count(accepted, artifacts)
        return accepted

    async def _check_names(self, credential: Credential, request: CaptureRequest) -> bool:
        async with self.pool.connection() as connection:
            await set_tenant(connection, credential.tenant_id)
            found = await store.look_around(connection, credential.tenant_id, request)
        if not found.catalog_known:
            raise UnknownCatalog(f"There is no {request.catalog_id}.")
        if not found.source_known:
            raise UnknownSource(f"There is no {request.source_id}.")
        return found.key_bound

    async def _keep(self, credential: Credential, upload: Upload, *, key_bound: bool) -> Accepted:
        if key_bound:
            return await receipt.repeat(self.pool, credential.tenant_id, upload)
        await evidence.keep(self.pool, self.bucket, credential.tenant_id, upload.artifacts)
        failpoint("intake.after_put")
        return await receipt.commit(self.pool, credential.tenant_id, upload)


def build_app(settings: IntakeSettings, intake: Intake) -> FastAPI:
    """The application with its limits and keys."""

    async def find_key(key_id: str) -> StoredKey | None:
        async with intake.pool.connection() as connection:
            return await store.find_key(connection, key_id)

    limits = Limits(
        body_bytes=settings.max_body_bytes,
        request_seconds=settings.upload_seconds,
        silence_seconds=settings.silence_seconds,
    )
    app = create_app("Assay intake", KeyRing(settings.key_pepper, find_key), limits, docs=settings.http_docs)
    app.state.intake = intake
    app.include_router(router)
    return app


def _intake(request: Request) -> Intake:
    found: Intake = request.app.state.intake
    return found


IntakeOfApp = Annotated[Intake, Depends(_intake)]


@router.post(
    "/captures",
    status_code=HTTPStatus.CREATED,
    responses={
        HTTPStatus.CREATED: {"model": Receipt, "description": "The capture is durable."},
        HTTPStatus.OK: {"model": Receipt, "description": "It already was: this is its first receipt."},
        HTTPStatus.CONFLICT: {"description": "The idempotency key belongs to a request with another body."},
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE: {"description": "An artifact, the body or its number of parts."},
        HTTPStatus.SERVICE_UNAVAILABLE: {"description": "Nothing is lost: send it again after Retry-After."},
    },
    openapi_extra=_BODY,
    response_class=Response,
)
async def hand_in_capture(
    request: Request,
    intake: IntakeOfApp,
    credential: Annotated[Credential, needs("captures:write")],
    idempotency_key: Annotated[str | None, Header(description="May repeat the metadata's idempotency_key.")] = None,
) -> Response:
    """Make a capture durable: its evidence, its receipt and its first job."""
    try:
        accepted = await intake.accept(credential, capture.open_parts(request), idempotency_key)
    except InvalidMessage:
        CAPTURES.labels("invalid_metadata").inc()
        raise
    except Refused as refusal:
        CAPTURES.labels(refusal.code).inc()
        raise
    status = HTTPStatus.OK if accepted.first_job is None else HTTPStatus.CREATED
    return _json(accepted.receipt, status)


@router.get("/captures/{capture_id}")
async def show_capture(
    capture_id: Annotated[str, Path(pattern=r"^cap_[A-Za-z0-9_]{1,60}$")],
    intake: IntakeOfApp,
    credential: Annotated[Credential, needs("captures:read")],
) -> views.CaptureView:
    """What was handed in, and what became of it."""
    tenant_id = credential.tenant_id
    async with intake.pool.connection() as connection:
        await set_tenant(connection, tenant_id)
        row = await store.find_capture(connection, tenant_id, capture_id)
        if row is None:
            raise NotFound
        artifacts = await store.list_artifacts(connection, tenant_id, capture_id)
        jobs = await store.list_jobs(connection, tenant_id, capture_id)
    return views.capture_view(tenant_id, row, artifacts, jobs)


@router.get("/receipts/{receipt_id}", responses={HTTPStatus.OK: {"model": Receipt}}, response_class=Response)
async def show_receipt(
    receipt_id: Annotated[str, Path(pattern=r"^rcpt_[A-Za-z0-9_]{1,59}$")],
    intake: IntakeOfApp,
    credential: Annotated[Credential, needs("captures:read")],
) -> Response:
    """The receipt, the same as when it was given."""
    tenant_id = credential.tenant_id
    async with intake.pool.connection() as connection:
        await set_tenant(connection, tenant_id)
        row = await store.find_receipt(connection, tenant_id, receipt_id)
        if row is None:
            raise NotFound
        artifacts = await store.list_artifacts(connection, tenant_id, row.capture_id)
    return _json(receipt.receipt_of(row, artifacts), HTTPStatus.OK)


@router.get(
    "/evidence/{sha256}",
    response_class=StreamingResponse,
    responses={HTTPStatus.OK: {"content": {"application/octet-stream": {}}}},
)
async def read_evidence(
    sha256: Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")],
    intake: IntakeOfApp,
    credential: Annotated[Credential, needs("evidence:read")],
) -> StreamingResponse:
    """The bytes of one of the tenant's own artifacts, never to be rendered."""
    tenant_id = credential.tenant_id
    async with intake.pool.connection() as connection:
        await set_tenant(connection, tenant_id)
        size_bytes = await store.find_stored(connection, tenant_id, sha256)
    if size_bytes is None:
        raise NotFound
    opened = AsyncExitStack()
    chunks = await opened.enter_async_context(intake.bucket.open(evidence_uri(tenant_id, sha256)))
    headers = {
        "Content-Length": str(size_bytes),
        "Content-Disposition": "attachment",
        "X-Content-Type-Options": "nosniff",
    }
    return StreamingResponse(_close_after(opened, chunks), media_type="application/octet-stream", headers=headers)


async def _close_after(opened: AsyncExitStack, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async with opened:
        async for chunk in chunks:
            yield chunk


def _json(document: Receipt, status: HTTPStatus) -> Response:
    return Response(encode_document(document), status, media_type="application/json")


def _count(accepted: Accepted, artifacts: tuple[ReceivedArtifact, ...]) -> None:
    if accepted.first_job is None:
        CAPTURES.labels("repeated").inc()
        return
    CAPTURES.labels("accepted").inc()
    ARTIFACT_BYTES.inc(sum(artifact.size_bytes for artifact in artifacts))
    log.info("capture.accepted", capture_id=accepted.receipt.capture_id, count=len(artifacts))
