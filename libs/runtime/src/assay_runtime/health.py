"""What a process says about itself on its second port: metrics, and whether it lives, is ready, has started."""

import json
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from assay_runtime.metrics import PROCESS_HALTED, PROCESS_PROGRESS, PROCESS_READY

STALL_SECONDS = 30.0


class Health:
    """The state behind the probes.

    Liveness looks at progress alone: a loop calls `progress` on each turn, also on an idle one and while it waits for
    a dependency, so that an outage restarts nothing. A halted process is alive (a restart cannot help) and not ready.
    """

    def __init__(self, stall_seconds: float = STALL_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        """`stall_seconds` without progress make the process not live; choose more than its longest honest turn."""
        self._stall_seconds = stall_seconds
        self._clock = clock
        self._started = False
        self._ready = False
        self._why = "starting"
        self._halted: str | None = None
        self._last_progress = clock()
        PROCESS_READY.set(0)
        PROCESS_HALTED.set(0)

    def started(self) -> None:
        """Start-up is over: liveness counts from here."""
        self._started = True
        self.progress()

    def progress(self) -> None:
        """The loop turned."""
        self._last_progress = self._clock()
        PROCESS_PROGRESS.set_to_current_time()

    def ready(self, ready: bool, why: str = "") -> None:
        """Whether the process takes work now, and if not, what it waits for."""
        self._ready, self._why = ready, why
        PROCESS_READY.set(int(ready and self._halted is None))

    def halt(self, why: str) -> None:
        """Stop taking work for good and say why; only a new process can undo it."""
        self._halted = why
        PROCESS_READY.set(0)
        PROCESS_HALTED.set(1)

    @property
    def halted(self) -> str | None:
        """Why the process halted, or None."""
        return self._halted

    def is_started(self) -> tuple[bool, str]:
        """Answer for /startupz."""
        return self._started, "" if self._started else self._why

    def is_live(self) -> tuple[bool, str]:
        """Answer for /livez."""
        idle_seconds = self._clock() - self._last_progress
        stalled = self._started and self._halted is None and idle_seconds > self._stall_seconds
        return not stalled, f"no progress for {idle_seconds:.0f} s" if stalled else ""

    def is_ready(self) -> tuple[bool, str]:
        """Answer for /readyz."""
        if self._halted is not None:
            return False, f"halted: {self._halted}"
        return self._started and self._ready, self._why


class OpsServer:
    """Serves /metrics, /livez, /readyz and /startupz from a daemon thread until closed."""

    def __init__(self, host: str, port: int, health: Health) -> None:
        """Bind at once; port 0 takes a free one, see `port`."""
        handler = type("ProbeHandler", (_ProbeHandler,), {"health": health})
        self._server = ThreadingHTTPServer((host, port), handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="ops", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving and free the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _ProbeHandler(BaseHTTPRequestHandler):
    health: ClassVar[Health]
    timeout = 5
    server_version = "assay"
    sys_version = ""

    def do_GET(self) -> None:
        probes = {
            "/livez": self.health.is_live,
            "/readyz": self.health.is_ready,
            "/startupz": self.health.is_started,
        }
        if self.path == "/metrics":
            self._answer(HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest())
        elif self.path in probes:
            self._answer_probe(*probes[self.path]())
        else:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"")

    def _answer_probe(self, ok: bool, why: str) -> None:
        status = HTTPStatus.OK if ok else HTTPStatus.SERVICE_UNAVAILABLE
        self._answer(status, "application/json", json.dumps({"ok": ok, "why": why}).encode())

    def _answer(self, status: HTTPStatus, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Probes come every few seconds: no line for them."""
