"""Reads files of named SQL statements, so that Python only names what the database is asked."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import LiteralString, cast

from assay_runtime.errors import InvalidSqlFile

_HEADER = re.compile(r"^-- name: (?P<name>\S+)[ \t]*$", re.MULTILINE)
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)+")


class Statements(Mapping[str, LiteralString]):
    """The statements of one file by name; asking for an unknown one is a KeyError that lists the known ones."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """The one place where file text becomes LiteralString: it ships in the wheel and no caller can add to it."""
        self._texts = cast("Mapping[str, LiteralString]", dict(texts))

    def __getitem__(self, name: str) -> LiteralString:
        try:
            return self._texts[name]
        except KeyError:
            raise KeyError(f"no statement {name!r}; there are: {', '.join(sorted(self._texts))}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


@cache
def load(package: str, name: str) -> Statements:
    """Read `<package>/sql/<name>.sql`."""
    return Statements(parse((files(package) / "sql" / f"{name}.sql").read_text(encoding="utf-8"), f"{name}.sql"))


def parse(text: str, file_name: str) -> dict[str, str]:
    """Split a file at its `-- name: verb_noun` lines; each is followed by a comment that says what it is for."""
    headers = list(_HEADER.finditer(text))
    if not headers or text[: headers[0].start()].strip():
        raise InvalidSqlFile(f"{file_name}: must begin with a line `-- name: verb_noun`")
    ends = [header.start() for header in headers[1:]] + [len(text)]
    statements: dict[str, str] = {}
    for header, end in zip(headers, ends, strict=True):
        name, body = header["name"], text[header.end() : end].strip()
        _check(file_name, name, body)
        if name in statements:
            raise InvalidSqlFile(f"{file_name}: {name} appears twice")
        statements[name] = body
    return statements


def _check(file_name: str, name: str, body: str) -> None:
    purpose, _, statement = body.partition("\n")
    if not _NAME.fullmatch(name):
        raise InvalidSqlFile(f"{file_name}: {name} is not of the form verb_noun")
    if not purpose.startswith("-- ") or not statement.strip():
        raise InvalidSqlFile(f"{file_name}: {name} needs one comment line of purpose, then its SQL")
