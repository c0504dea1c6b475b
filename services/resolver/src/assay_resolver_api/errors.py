"""What the resolver's API refuses: the problem that each refusal of the transactional core becomes."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from assay_resolver import errors
from assay_resolver.errors import ResolverError
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
    errors.CaseConflict: (HTTPStatus.CONFLICT, "case_conflict"),
    errors.Changed: (HTTPStatus.CONFLICT, "changed"),
    errors.UndoConflict: (HTTPStatus.CONFLICT, "undo_conflict"),
    errors.VerdictStands: (HTTPStatus.CONFLICT, "verdict_stands"),
    errors.Superseded: (HTTPStatus.CONFLICT, "superseded"),
    errors.AlreadySo: (HTTPStatus.CONFLICT, "already_so"),
    errors.RequestReused: (HTTPStatus.CONFLICT, "request_reused"),
    errors.NotACandidate: (HTTPStatus.UNPROCESSABLE_ENTITY, "not_a_candidate"),
    errors.NotInItem: (HTTPStatus.UNPROCESSABLE_ENTITY, "not_in_item"),
    errors.NotThatKind: (HTTPStatus.UNPROCESSABLE_ENTITY, "not_that_kind"),
    errors.WrongKey: (HTTPStatus.UNPROCESSABLE_ENTITY, "no_such_key"),
    errors.Forgotten: (HTTPStatus.UNPROCESSABLE_ENTITY, "listing_forgotten"),
    errors.NothingToUndo: (HTTPStatus.UNPROCESSABLE_ENTITY, "nothing_to_undo"),
    errors.TooManyEvents: (HTTPStatus.UNPROCESSABLE_ENTITY, "too_many_events"),
    errors.EventTooLarge: (HTTPStatus.UNPROCESSABLE_ENTITY, "event_too_large"),
    errors.ItemFull: (HTTPStatus.UNPROCESSABLE_ENTITY, "item_full"),
    errors.UnknownAttribute: (HTTPStatus.UNPROCESSABLE_ENTITY, "unknown_attribute"),
}
_UNKNOWN: Final = (
    errors.UnknownCase,
    errors.UnknownItem,
    errors.UnknownListing,
    errors.UnknownDecision,
    errors.UnknownStream,
)


def problem_of(error: ResolverError) -> Problem:
    """The refusal as a client sees it: what is unknown looks the same whether it is another tenant's or nobody's."""
    if isinstance(error, _UNKNOWN):
        return NotFound()
    status, code = _CODES[type(error)]
    return Problem(status, code, str(error), more=_more(error))


def _more(error: ResolverError) -> Mapping[str, object] | None:
    """What a conflict shows beside its name."""
    match error:
        case errors.CaseConflict(current) | errors.Changed(current):
            return {"current": current}
        case errors.UndoConflict(parts):
            return {"parts": parts}
        case errors.VerdictStands(verdicts):
            return {"verdicts": verdicts}
        case _:
            return None
