"""A tenant at work in an end-to-end test: hands pages in, waits for them, and reads its catalog."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, cast

import httpx
import psycopg
from assay_cli import hops, tenancy
from assay_cli.captures import Page, hand_in, source_of
from assay_cli.client import SERVICES, Client, Document, Service
from assay_cli.commands.output import rows_of
from assay_cli.demo import all_items
from assay_cli.errors import CommandError
from assay_cli.stack import Stack
from assay_cli.stack.installation import http_port_name
from assay_cli.stack.ports import HOST

T = TypeVar("T")

CATALOG = "cat_main"
DEADLINE_SECONDS = 120.0
PAUSE_SECONDS = 0.1


def eventually(what: str, ask: Callable[[], T | None], seconds: float = DEADLINE_SECONDS) -> T:
    """The first answer that is not None; services may be away meanwhile."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            answer = ask()
        except (CommandError, psycopg.OperationalError):
            answer = None
        if answer is not None:
            return answer
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(PAUSE_SECONDS)


def settle(stack: Stack) -> None:
    """Wait until no hop has anything left to do."""
    eventually("every hop is at rest", lambda: hops.is_quiet(hops.measure(stack.installation)) or None)


def kill(stack: Stack, name: str) -> None:
    """End it and wait until another process of that name serves."""
    state = stack.state()
    assert state is not None
    victim = state.processes[name]
    assert victim.pid is not None
    os.kill(victim.pid, signal.SIGKILL)

    def restarted() -> bool | None:
        now = stack.state()
        found = now.processes[name] if now else None
        return True if found and found.pid != victim.pid and found.condition == "ready" else None

    eventually(f"{name} serves again", restarted)


@dataclass(frozen=True)
class Shop:
    """One tenant of the installation."""

    stack: Stack
    tenant_id: str
    client: Client

    @classmethod
    def opened(cls, stack: Stack, tenant_id: str) -> "Shop":
        """A tenant with its catalog, its key and a client of its own."""
        key = tenancy.provide(stack.installation, tenant_id, CATALOG, [])
        ports = stack.installation.ports
        addresses: dict[Service, str] = {one: f"http://{HOST}:{ports[http_port_name(one)]}" for one in SERVICES}
        headers = {"Authorization": f"Bearer {key}"}
        return cls(stack, tenant_id, Client(httpx.Client(headers=headers, timeout=60, trust_env=False), addresses))

    def hand_in(self, page: Page) -> Document:
        """Capture a page, trying again while intake is away: a retry is the same request."""
        source_id = source_of(page)

        def send() -> Document:
            tenancy.provide(self.stack.installation, self.tenant_id, CATALOG, [source_id])
            return hand_in(self.client, page, CATALOG, source_id)

        return eventually("intake takes it", send)

    def ended(self, receipt: Document) -> Document:
        """The capture once its jobs have ended."""

        def look() -> Document | None:
            capture = self.client.get("intake", f"/v1/captures/{receipt['capture_id']}")
            return capture if capture["state"] != "open" else None

        return eventually("the capture has ended", look)

    def items(self) -> list[Document]:
        """The whole catalog, once everything is at rest; none before its first event."""
        settle(self.stack)
        try:
            return all_items(self.client)
        except CommandError:
            return []

    def offers_by_gtin(self) -> dict[str, list[tuple[str, str]]]:
        """For each gtin the (source, price) of its offers, sorted."""
        return {
            cast("list[str]", item["gtin"])[0]: sorted(
                (str(offer["source_id"]), str(offer["price"])) for offer in rows_of(item["offers"])
            )
            for item in self.items()
        }
