"""Small JSON files that are either the old text or the new one, never half of it."""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue


def read_object(path: Path) -> dict[str, JsonValue]:
    """The object in the file; an absent file is an empty object."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    found: JsonValue = json.loads(text)
    return found if isinstance(found, dict) else {}


def write_object(path: Path, value: Mapping[str, JsonValue], mode: int = 0o644) -> None:
    """Replace the file in one step."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        os.fchmod(handle, mode)
        json.dump(value, file, indent=2, sort_keys=True)
        file.write("\n")
    Path(temporary).replace(path)
