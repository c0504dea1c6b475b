"""Why intake refuses a request: one class per code, its docstring being the title that the client reads."""

from http import HTTPStatus
from typing import ClassVar

from assay_runtime.http import Problem


class Refused(Problem):
    """The request was refused."""

    status: ClassVar[HTTPStatus]
    name: ClassVar[str]
    retry_after_seconds: ClassVar[int | None] = None

    def __init__(self, detail: str = "") -> None:
        """`detail` says more than the title where there is more to say; it quotes only what the client chose."""
        headers = {"Retry-After": str(self.retry_after_seconds)} if self.retry_after_seconds else None
        super().__init__(self.status, self.name, (self.__doc__ or "").strip(), detail, headers=headers)


class ClientGone(Refused):
    """The client closed the connection before its request was whole."""

    status = HTTPStatus.BAD_REQUEST
    name = "client_gone"


class NotMultipart(Refused):
    """A capture is sent as multipart/form-data."""

    status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
    name = "not_multipart"


class MalformedMultipart(Refused):
    """The body is not well-formed multipart/form-data."""

    status = HTTPStatus.BAD_REQUEST
    name = "malformed_multipart"


class TooManyParts(Refused):
    """The body has more parts than a capture may have."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    name = "too_many_parts"


class ArtifactTooLarge(Refused):
    """An artifact is larger than this service takes."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    name = "artifact_too_large"


class SpoolFull(Refused):
    """There is no room for more uploads at this moment; try again."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    name = "spool_full"
    retry_after_seconds = 5


class MetadataNotFirst(Refused):
    """The first part must be named metadata."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY
    name = "metadata_not_first"


class UnexpectedPart(Refused):
    """A part is not the next one that the metadata lists."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY
    name = "unexpected_part"


class MissingArtifact(Refused):
    """The body ended before all artifacts that the metadata lists."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY
    name = "missing_artifact"


class ArtifactMismatch(Refused):
    """An artifact has another sha256 or length than the metadata states."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY
    name = "artifact_mismatch"


class ObservedOutOfRange(Refused):
    """observed_at is before 1970 or more than five minutes ahead of this service's clock."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY
    name = "observed_out_of_range"


class KeyMismatch(Refused):
    """The Idempotency-Key header and the metadata's idempotency_key differ."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY
    name = "idempotency_key_mismatch"


class UnknownCatalog(Refused):
    """The tenant has no catalog of this id."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY
    name = "unknown_catalog"


class UnknownSource(Refused):
    """The tenant has no source of this id; the operator makes sources."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY
    name = "unknown_source"


class KeyReused(Refused):
    """This idempotency key belongs to a request with another body; nothing was changed."""

    status = HTTPStatus.CONFLICT
    name = "idempotency_key_reused"


class NotFound(Refused):
    """There is nothing of this id."""

    status = HTTPStatus.NOT_FOUND
    name = "not_found"


class ReservedSource(Refused):
    """This source is reserved for what persons state in a decision."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY
    name = "reserved_source"


class ReservedKey(Refused):
    """Idempotency keys that begin so are reserved for what persons state in a decision."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY
    name = "reserved_key"


class NameTooLong(Refused):
    """The url or key has more bytes than an index entry, and later a catalog event, can hold."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY
    name = "name_too_long"


class NoOpenHistory(Refused):
    """No history is open between a restore and its advance; nothing is lost, try again later."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    name = "no_open_history"
    retry_after_seconds = 10
