"""A client that does what no library would: half a body, none at all, or one that never ends."""

import json
import socket
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .world import IntakeProcess, Tenant

BOUNDARY = "frontier"
READ_SECONDS = 20.0


@dataclass
class Answer:
    """What came back before the server closed, or before the answer was whole."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        """The problem's code."""
        return str(json.loads(self.body)["code"])


@dataclass
class Wire:
    """One connection; what is sent is up to the test."""

    connection: socket.socket

    def send(self, data: bytes) -> None:
        """Send, as far as the server still takes it."""
        self.connection.sendall(data)

    def chunk(self, data: bytes) -> None:
        """Send one chunk of a chunked body."""
        self.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def answer(self) -> Answer:
        """Read one answer whose length is stated."""
        reader = self.connection.makefile("rb")
        status = int(reader.readline().split()[1])
        headers = dict(_headers(reader.readline, status))
        return Answer(status, headers, reader.read(int(headers["content-length"])))

    def is_closed(self) -> bool:
        """Whether the server closes the connection."""
        try:
            return self.connection.recv(1) == b""
        except ConnectionError:
            return True


def _headers(readline: Any, status: int) -> Iterator[tuple[str, str]]:
    assert status >= 200
    while line := readline().strip():
        name, _, value = line.decode("latin-1").partition(":")
        yield name.lower(), value.strip()


@contextmanager
def connect(intake: IntakeProcess) -> Generator[Wire]:
    """A connection to the process."""
    with socket.create_connection(("127.0.0.1", intake.port), READ_SECONDS) as connection:
        yield Wire(connection)


def head(tenant: Tenant, *lines: str, content_type: str = f"multipart/form-data; boundary={BOUNDARY}") -> bytes:
    """The head of a capture's request; `lines` say how long the body is."""
    fixed = ["POST /v1/captures HTTP/1.1", "Host: intake", f"Content-Type: {content_type}"]
    return "\r\n".join(
        [*fixed, *(f"{name}: {value}" for name, value in tenant.headers.items()), *lines, "", ""]
    ).encode()
