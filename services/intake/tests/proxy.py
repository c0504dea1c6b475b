"""A TCP proxy that can refuse, and that can lose the answer to one chosen message."""

import socket
import threading
from contextlib import suppress

BUFFER = 1 << 16


class Proxy:
    """Forwards one port to another for the length of a `with`."""

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._refusing = False
        self._marker: tuple[bytes, bytes] | None = None
        self.lost = threading.Event()

    def __enter__(self) -> "Proxy":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        _cut(self._listener)
        self._cut_all()

    def refuse(self, refusing: bool) -> None:
        """Cut every connection and take no other, or take them again."""
        self._refusing = refusing
        if refusing:
            self._cut_all()

    def lose_answer(self, after: bytes, to: bytes) -> None:
        """Once: on a connection that has said `after`, pass `to` on and cut before its answer comes back."""
        self._marker = (after, to)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self._refusing:
                    client.close()
                else:
                    self._join(client)

    def _join(self, client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", self._target_port))
        self._open |= {client, server}
        threading.Thread(target=self._pump_out, args=(client, server), daemon=True).start()
        threading.Thread(target=self._pump_back, args=(server, client), daemon=True).start()

    def _pump_out(self, client: socket.socket, server: socket.socket) -> None:
        said = b""
        with suppress(OSError):
            while data := client.recv(BUFFER):
                said = (said + data)[-BUFFER:]
                if self._is_to_lose(said, data):
                    self._marker = None
                    self.lost.set()
                    _cut(client)
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)

    def _pump_back(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(BUFFER):
                client.sendall(data)
        _cut(client)
        _cut(server)

    def _is_to_lose(self, said: bytes, data: bytes) -> bool:
        return self._marker is not None and self._marker[0] in said and self._marker[1] in data

    def _cut_all(self) -> None:
        while self._open:
            _cut(self._open.pop())


def _cut(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
