"""Every failure that the stages name, and the closed list of reasons for which they give up on a message."""

from typing import Literal

from assay_contracts import reasons

Reason = (
    reasons.Reason
    | Literal[
        "closed_epoch",
        "unknown_epoch",
        "no_job",  # nobody promised this job
        "not_as_promised",  # the job's row promises something else under this name
        "capture_mismatch",  # the committed capture belongs to another catalog or source
        "unknown_pin",
        "evidence_missing",
        "evidence_mismatch",  # stored bytes have another tenant, hash or length than the job says
        "database_refused",  # a constraint or a limit of the database, in every attempt
        "unexpected",  # an error without a name, in every attempt
        "kills_its_process",
    ]
)


class StagesError(Exception):
    """A stage failed in a way that it has a name for."""


class UnknownPin(StagesError):
    """No adapter or profile of that exact name and version is listed in this build."""

    def __init__(self, pin: str) -> None:
        super().__init__(f"unknown pin: {pin[:100]!r}")
        self.pin = pin


class PlaceNotFound(StagesError):
    """An artifact has nothing at the place that a fact names."""

    def __init__(self, place: str) -> None:
        super().__init__(f"nothing stands at {place[:200]!r}")
        self.place = place


class ArtifactMismatch(StagesError):
    """An artifact's reference names other bytes than the job says, or these have another length."""


class OffsetGap(StagesError):
    """A partition's next message is not the one that follows the last; the hole would be committed over."""


class UnfitFaust(StagesError):
    """The installed Faust or aiokafka is not the one that the repairs were made for."""
