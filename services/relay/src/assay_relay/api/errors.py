"""What the API of the relay refuses, each as the problem that a client sees."""

from http import HTTPStatus

from assay_runtime.http import Problem


class NotFound(Problem):
    """There is nothing of this name, or it is another tenant's."""

    def __init__(self) -> None:
        super().__init__(HTTPStatus.NOT_FOUND, "not_found", "There is nothing of this name.")


class ServiceOnly(Problem):
    """The route is for our own programs; a tenant's key has no business here, whatever its scopes."""

    def __init__(self) -> None:
        super().__init__(HTTPStatus.FORBIDDEN, "forbidden", "This route is for service keys.")


class RegisteredOtherwise(Problem):
    """The name is taken by a registration that differs; it must be unregistered by name first."""

    def __init__(self, kind: str, streams: str) -> None:
        detail = f"it is a {kind} consumer of {streams}"
        super().__init__(HTTPStatus.CONFLICT, "registered_otherwise", "The consumer is registered otherwise.", detail)


class Gone(Problem):
    """What was asked for is pruned, or the lease has expired: start anew from a snapshot."""

    def __init__(self, why: str, floor: int) -> None:
        title = "It is gone; start from a snapshot."
        super().__init__(HTTPStatus.GONE, "gone", title, why, more={"floor": floor})


class StillOpen(Problem):
    """The stream's epoch is open, so its consumers decide, nobody else."""

    def __init__(self) -> None:
        super().__init__(HTTPStatus.CONFLICT, "epoch_open", "Only streams of a closed epoch can be released.")


class Incomplete(Problem):
    """A page would have a hole that is not pruning: nothing is answered rather than something wrong."""

    def __init__(self) -> None:
        super().__init__(HTTPStatus.SERVICE_UNAVAILABLE, "incomplete", "Try again soon", headers={"Retry-After": "2"})


class TooFar(Problem):
    """The digest at this position would need more events to be read than one request may."""

    def __init__(self, most: int) -> None:
        title = "No anchor is near this position; ask for the head, the floor, or a snapshot's position."
        super().__init__(HTTPStatus.UNPROCESSABLE_ENTITY, "too_far", title, f"at most {most} events are read")
