"""What can be wrong with a request to decide; each docstring is the message a caller may show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


class ResolverError(Exception):
    """The decision was refused and nothing changed."""

    def __str__(self) -> str:
        return self.__doc__ or type(self).__name__


class UnknownStream(ResolverError):
    """There is no such catalog, or its history epoch is closed."""


class UnknownCase(ResolverError):
    """There is no such case."""


class UnknownItem(ResolverError):
    """There is no such active item."""


class UnknownAttribute(ResolverError):
    """The registry has no such item attribute, or the value is not of its type."""


class UnknownListing(ResolverError):
    """There is no such listing."""


class UnknownDecision(ResolverError):
    """There is no such decision."""


class NotACandidate(ResolverError):
    """The item is not among those that the case shows."""


class NotInItem(ResolverError):
    """A split takes some of the item's own listings and leaves some."""


class WrongKey(ResolverError):
    """The listing's page states no such exact key."""


class NotThatKind(ResolverError):
    """A case of this kind cannot be answered so."""


class Forgotten(ResolverError):
    """Without this question the listing would be in no item and nobody would be asked."""


class TooManyEvents(ResolverError):
    """The decision would change more than 5,000 things at once; do it in parts."""


class EventTooLarge(ResolverError):
    """An event of this decision would be larger than its topic takes."""


class ItemFull(ResolverError):
    """The item would have more than 1,000 listings."""


class Superseded(ResolverError):
    """A newer listing of the same page has taken this one's place since it was rejected or replaced."""


class RequestReused(ResolverError):
    """This request id was used for another decision."""


class AlreadySo(ResolverError):
    """It is so already; nothing was decided."""


class NothingToUndo(ResolverError):
    """The decision asserted nothing that could be withdrawn: what sources state is not a decision's to undo."""


@dataclass
class CaseConflict(ResolverError):
    """The case has changed since it was read, or is closed; look again."""

    current: Mapping[str, object]

    def __str__(self) -> str:
        return self.__doc__ or ""


@dataclass
class Changed(ResolverError):
    """What this would decide about has changed since it was read; look again."""

    current: Mapping[str, object]

    def __str__(self) -> str:
        return self.__doc__ or ""


@dataclass
class VerdictStands(ResolverError):
    """A person said that these differ; name the decisions of the verdicts to overrule them."""

    verdicts: Sequence[Mapping[str, object]]

    def __str__(self) -> str:
        return self.__doc__ or ""


@dataclass
class UndoConflict(ResolverError):
    """Some parts are no longer as the decision left them; undo what is left of it with `partial`, if anything is."""

    parts: Sequence[Mapping[str, object]]

    def __str__(self) -> str:
        return self.__doc__ or ""
