"""What the resolver's API refuses: the problem that each refusal of the transactional core becomes."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from assay_resolver.errors import (
    CaseConflict,
    NotACandidate,
    RequestReused,
    ResolverError,
    UnknownAttribute,
    UnknownCase,
    UnknownItem,
    UnknownStream,
)
from assay_runtime.http import Problem


class NotFound(Problem):
    """There is nothing of this id."""

    def __init__(self) -> None:
        super().__init__(HTTPStatus.NOT_FOUND, "not_found", "There is nothing of this id.")


class NoOpenHistory(Problem):
    """No history is open between a restore and its advance."""

    def __init__(self) -> None:
        title = "No history is open; nothing was decided, try again later."
        super().__init__(HTTPStatus.SERVICE_UNAVAILABLE, "no_open_history", title, headers={"Retry-After": "10"})


class InvalidBody(Problem):
    """The JSON document is not what the route asks for."""

    def __init__(self, errors: list[dict[str, str]]) -> None:
        title = "The request is not what this route asks for"
        super().__init__(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_request", title, more={"errors": errors})


_CODES: Final[Mapping[type[ResolverError], tuple[HTTPStatus, str]]] = {
    CaseConflict: (HTTPStatus.CONFLICT, "case_conflict"),
    RequestReused: (HTTPStatus.CONFLICT, "request_reused"),
    NotACandidate: (HTTPStatus.UNPROCESSABLE_ENTITY, "not_a_candidate"),
    UnknownAttribute: (HTTPStatus.UNPROCESSABLE_ENTITY, "unknown_attribute"),
}
_UNKNOWN: Final = (UnknownCase, UnknownItem, UnknownStream)


def problem_of(error: ResolverError) -> Problem:
    """The refusal as a client sees it: what is unknown looks the same whether it is another tenant's or nobody's."""
    if isinstance(error, _UNKNOWN):
        return NotFound()
    status, code = _CODES[type(error)]
    more = {"current": error.current} if isinstance(error, CaseConflict) else None
    return Problem(status, code, str(error), more=more)
