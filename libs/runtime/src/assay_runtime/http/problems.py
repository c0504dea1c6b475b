"""Every refusal of an API as one RFC 9457 document, and every outage of a dependency as 503 with Retry-After."""

from collections.abc import Mapping
from http import HTTPStatus

import psycopg
from assay_contracts.errors import InvalidMessage
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests
from starlette.exceptions import HTTPException

from assay_runtime.errors import EvidenceUnavailable, KafkaUnavailable
from assay_runtime.logs import get_logger
from assay_runtime.postgres import is_conflict, is_outage

RETRY_AFTER_SECONDS = 2
MEDIA_TYPE = "application/problem+json"
_PLACES_TOLD = 3
_TIME_LIMITS = frozenset({"55P03", "57014", "25P04"})

log = get_logger()


class Problem(HTTPException):
    """A refusal: `code` is stable and for machines, `title` the same for every case of a code, `detail` for people."""

    def __init__(
        self,
        status: int,
        code: str,
        title: str,
        detail: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        more: Mapping[str, object] | None = None,
    ) -> None:
        """`more` adds members of its own to the document, such as a JSON pointer."""
        super().__init__(status, detail or title, headers)
        self.code = code
        self.title = title
        self.more = dict(more or {})


def response_of(problem: Problem) -> Response:
    """The document with its status and headers."""
    document: dict[str, object] = {
        "type": f"urn:assay:problem:{problem.code}",
        "title": problem.title,
        "status": problem.status_code,
        "detail": problem.detail,
        "code": problem.code,
        **problem.more,
    }
    return JSONResponse(document, problem.status_code, problem.headers, MEDIA_TYPE)


def internal() -> Problem:
    """What a client learns of a defect of ours: nothing but that it is ours."""
    return Problem(HTTPStatus.INTERNAL_SERVER_ERROR, "internal", "Something went wrong here")


def unavailable(dependency: str) -> Problem:
    """A dependency is away; nothing was lost, the same request may be sent again."""
    return Problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "unavailable",
        "Try again soon",
        f"{dependency} does not answer",
        headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
    )


def of_error(error: Exception) -> Problem:
    """What a failure looks like from outside."""
    match error:
        case Problem():
            return error
        case HTTPException():
            return _of_http(error)
        case RequestValidationError():
            return _of_validation(error)
        case InvalidMessage():
            return Problem(
                HTTPStatus.UNPROCESSABLE_ENTITY,
                error.reason,
                "The document is not what this route asks for",
                error.text,
                more={"pointer": error.pointer},
            )
        case KafkaUnavailable():
            return unavailable("kafka")
        case EvidenceUnavailable():
            return unavailable("the evidence store")
        case _ if is_outage(error) or is_conflict(error) or _ran_out_of_time(error):
            return unavailable("the database")
        case _:
            return internal()


def _ran_out_of_time(error: Exception) -> bool:
    """A lock that did not come, or a statement or transaction over its limit: rolled back, so it may be sent again."""
    return isinstance(error, psycopg.Error) and error.sqlstate in _TIME_LIMITS


HANDLED: tuple[type[Exception], ...] = (
    HTTPException,
    RequestValidationError,
    InvalidMessage,
    KafkaUnavailable,
    EvidenceUnavailable,
    psycopg.Error,
    PoolTimeout,
    PoolClosed,
    TooManyRequests,
)


def install(app: FastAPI) -> None:
    """Answer these failures with problems; whatever else escapes a route is the guard's."""
    for error_type in HANDLED:
        app.add_exception_handler(error_type, _handle)


async def _handle(_request: Request, error: Exception) -> Response:
    problem = of_error(error)
    if problem.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.warning("http.failed", status=problem.status_code, code=problem.code, error_type=type(error).__name__)
    if problem.code == "internal":
        log.error("http.defect", exc_info=error)
    return response_of(problem)


def _of_http(error: HTTPException) -> Problem:
    title = HTTPStatus(error.status_code).phrase
    code = title.lower().replace(" ", "_").replace("-", "_")
    return Problem(error.status_code, code, title, error.detail, headers=error.headers)


def _of_validation(error: RequestValidationError) -> Problem:
    places = [
        {"place": "/".join(str(part) for part in found["loc"]), "text": found["msg"]} for found in error.errors()[:20]
    ]
    return Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid_request",
        "The request is not what this route asks for",
        "; ".join(f"{found['place']}: {found['text']}" for found in places[:_PLACES_TOLD]),
        more={"errors": places},
    )
