"""The S3 server as a local part: buckets are folders, and a conditional put is honoured."""

import sys
from dataclasses import dataclass
from http import HTTPStatus

import httpx

from assay_cli.stack import wheels
from assay_cli.stack.asking import ask
from assay_cli.stack.child import Child
from assay_cli.stack.layout import Layout
from assay_cli.stack.ports import HOST

_BUCKET_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class S3:
    """A server's place and port."""

    layout: Layout
    port: int

    @property
    def endpoint(self) -> str:
        return f"http://{HOST}:{self.port}"

    def child(self) -> Child:
        """The server, as the supervisor runs it."""
        wheels.folder_of("localbucket", "the S3 server")
        data = self.layout.data / "s3"
        return Child(
            name="s3",
            kind="part",
            port=self.port,
            command=[sys.executable, "-m", "localbucket", str(data), "--host", HOST, "--port", str(self.port)],
            prepare=lambda: data.mkdir(exist_ok=True),
            not_ready=self._not_ready,
        )

    def _not_ready(self) -> str | None:
        answer = ask(self.port, "/")
        if answer is None:
            return f"does not answer at {self.endpoint} yet"
        return None if answer.status == HTTPStatus.OK else f"answers {answer.status} at {self.endpoint}"


def create_bucket(endpoint: str, bucket: str) -> None:
    """Make the bucket unless it is there."""
    response = httpx.put(f"{endpoint}/{bucket}", timeout=_BUCKET_SECONDS)
    if response.status_code != HTTPStatus.CONFLICT:
        response.raise_for_status()
