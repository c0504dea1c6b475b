"""One cheap question over HTTP on the loopback interface, asked several times a second while a process starts."""

import http.client
from dataclasses import dataclass

from assay_cli.stack.ports import HOST

_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said."""

    status: int
    text: str


def ask(port: int, path: str) -> Answer | None:
    """The answer of whoever listens; None where nobody does or no answer came in time."""
    connection = http.client.HTTPConnection(HOST, port, timeout=_SECONDS)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return Answer(response.status, response.read().decode(errors="replace").strip())
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
