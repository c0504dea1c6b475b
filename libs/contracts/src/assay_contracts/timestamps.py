"""Timestamps of the wire: RFC 3339 with an upper-case T, Z or a numeric offset, and no leap second."""

import re
from datetime import UTC, date, datetime
from typing import Final, NewType

Timestamp = NewType("Timestamp", str)

PATTERN: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9](\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"
DATE_PATTERN: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_SHAPE: Final = re.compile(PATTERN.removesuffix("$") + r"\Z")
_DATE_SHAPE: Final = re.compile(DATE_PATTERN.removesuffix("$") + r"\Z")
_FRACTION: Final = re.compile(r"\.([0-9]+)")
_NO_OFFSET: Final = re.compile(r"[+-][0-9]{2}:[6-9][0-9]\Z")
"""60 minutes and more, which Python would add up."""


def timestamp(when: datetime) -> Timestamp:
    """The wire's spelling of an aware datetime, in UTC, to the microsecond."""
    if when.tzinfo is None:
        raise ValueError("a datetime without a zone names no moment")
    return Timestamp(when.astimezone(UTC).isoformat().replace("+00:00", "Z"))


def moment(text: str) -> datetime:
    """The moment that a timestamp names, cut to the microsecond; ValueError if it names none."""
    if not _SHAPE.match(text) or _NO_OFFSET.search(text):
        raise ValueError("not a timestamp")
    return datetime.fromisoformat(_FRACTION.sub(_microseconds, text))


def is_timestamp(text: str) -> bool:
    """Whether the text is a timestamp of the wire whose date, time and offset exist."""
    try:
        moment(text)
    except ValueError:
        return False
    return True


def is_date(text: str) -> bool:
    """Whether the text is a calendar date, YYYY-MM-DD, that exists."""
    if not _DATE_SHAPE.match(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _microseconds(fraction: re.Match[str]) -> str:
    return "." + fraction.group(1)[:6].ljust(6, "0")
