"""JSON pointers of what is refused, which quote no key that might be somebody's secret."""

import re
from typing import Final, TypeAlias

Path: TypeAlias = tuple[str | int, ...]

_FIELD_NAME: Final = re.compile(r"[a-z][A-Za-z0-9_]{0,39}")


def spell(path: Path) -> str:
    """The JSON pointer of a path; a key that does not look like a field's name is spelled `*`."""
    return "".join(f"/{_segment(part)}" for part in path)


def _segment(part: str | int) -> str:
    if isinstance(part, int) or _FIELD_NAME.fullmatch(part):
        return str(part)
    return "*"
