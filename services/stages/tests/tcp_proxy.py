"""A wire between a process and a part that tests can cut, mend, or make lose one answer."""

import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field

CHUNK = 65_536


@dataclass
class _Link:
    near: socket.socket
    far: socket.socket
    loses_answer: threading.Event = field(default_factory=threading.Event)

    def close(self) -> None:
        for each in (self.near, self.far):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


class TcpProxy:
    """Listens on a free port of the loopback and forwards to one address."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._links: list[_Link] = []
        self._lock = threading.Lock()
        self._whole = True
        self._swallow: bytes | None = None
        self.swallowed = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """End all connections and refuse new ones."""
        with self._lock:
            self._whole = False
            links, self._links = self._links, []
        for link in links:
            link.close()

    def mend(self) -> None:
        """Forward again."""
        self._whole = True

    def lose_answer_to(self, request: bytes) -> None:
        """The next request with these bytes arrives; its answer does not, and its connection ends."""
        self.swallowed.clear()
        self._swallow = request

    def close(self) -> None:
        """End everything."""
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self._connect(near)

    def _connect(self, near: socket.socket) -> None:
        with self._lock:
            if not self._whole:
                near.close()
                return
            link = _Link(near, socket.create_connection(self._target))
            self._links.append(link)
        threading.Thread(target=self._forward_requests, args=(link,), daemon=True).start()
        threading.Thread(target=self._forward_answers, args=(link,), daemon=True).start()

    def _forward_requests(self, link: _Link) -> None:
        with suppress(OSError):
            while data := link.near.recv(CHUNK):
                if self._swallow is not None and self._swallow in data:
                    self._swallow = None
                    link.loses_answer.set()
                link.far.sendall(data)
        link.close()

    def _forward_answers(self, link: _Link) -> None:
        with suppress(OSError):
            while data := link.far.recv(CHUNK):
                if link.loses_answer.is_set():
                    self.swallowed.set()
                    break
                link.near.sendall(data)
        link.close()
