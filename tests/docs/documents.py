"""Reads the repository's own documents: which files it tracks, and the tables that its pages hold."""

import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

Row = dict[str, str]


@cache
def files() -> tuple[Path, ...]:
    """Every file of the repository, also one that is not committed yet, relative to its root."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return tuple(sorted({Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file()}))


def pages() -> list[Path]:
    """Every page of prose, relative to the root."""
    return [path for path in files() if path.suffix == ".md"]


def read(path: Path | str) -> str:
    """The text of a file of the repository."""
    return (ROOT / path).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """What stands under one heading, up to the next of any level."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no heading {heading!r}"
    return found[1]


def table(text: str, heading: str) -> list[Row]:
    """The first table under a heading: each row by the names of its columns."""
    lines = [line for line in section(text, heading).splitlines() if line.startswith("|")]
    names, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(names, row, strict=True)) for row in rows]


def quoted(cell: str) -> list[str]:
    """What stands in backticks, in order."""
    return re.findall(r"`([^`]+)`", cell)
