"""What can be wrong with a request to decide; each docstring is the message a caller may show."""

from collections.abc import Mapping
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


class NotACandidate(ResolverError):
    """The item is not among those that the case shows."""


class RequestReused(ResolverError):
    """This request id was used for another decision."""


@dataclass
class CaseConflict(ResolverError):
    """The case has changed since it was read, or is closed; look again."""

    current: Mapping[str, object]

    def __str__(self) -> str:
        return self.__doc__ or ""
