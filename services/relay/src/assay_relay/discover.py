"""Fills the backlog: leases say whose streams, the scan brings news, full compares cover what it cannot have seen."""

from collections.abc import Collection, Iterable
from itertools import islice

from assay_resolver.streams import Stream

from assay_relay.backlog import Backlog
from assay_relay.leases import Change, Leases
from assay_relay.pacing import Every
from assay_relay.scan import Scan
from assay_relay.store import Store, StreamRow

COMPARE_SECONDS = 60.0
"""In this time every bucket is compared in full once, a few at a time."""
COMPARE_STEPS = 60
BUCKETS_AT_ONCE = 8
FOREIGN_REMEMBERED = 200_000


class Discovery:
    """What one process knows about who has unpublished events; `restart` it after an outage."""

    def __init__(self, backlog: Backlog, leases: Leases) -> None:
        self._backlog = backlog
        self._leases = leases
        self.restart()

    def restart(self) -> None:
        """Forget everything that was read, and begin with a heartbeat and a full compare."""
        self._backlog.clear()
        self._leases.forget()
        self._scan = Scan()
        self._is_settled = False
        self._foreign: dict[Stream, int] = {}
        self._to_compare: list[int] = []
        self._compare_step = Every(COMPARE_SECONDS / COMPARE_STEPS)
        self._register_step = Every(COMPARE_SECONDS)

    def turn(self, store: Store) -> None:
        """Learn what is new since the last turn."""
        self._follow(store, self._leases.keep(store))
        self._hear(store, self._scan.turn(store))
        if not self._is_settled and self._scan.is_settled:
            self._is_settled = True
            self._register(store, store.list_unregistered())
            self._compare(store, self._leases.terms)
        if self._register_step.is_due():
            self._register(store, store.list_unregistered())
        if self._compare_step.is_due():
            self._compare(store, self._next_buckets())

    def _follow(self, store: Store, change: Change) -> None:
        self._backlog.drop_buckets(change.lost | change.gained)
        self._compare(store, change.gained)

    def _compare(self, store: Store, buckets: Iterable[int]) -> None:
        remaining = iter(list(buckets))
        while portion := list(islice(remaining, BUCKETS_AT_ONCE)):
            self._backlog.learn(store.list_behind(portion), self._leases.terms)

    def _next_buckets(self) -> list[int]:
        if not self._to_compare:
            self._to_compare = list(self._leases.terms)
        count = max(1, -(-len(self._leases.terms) // COMPARE_STEPS))
        portion, self._to_compare = self._to_compare[:count], self._to_compare[count:]
        return portion

    def _hear(self, store: Store, news: dict[Stream, int]) -> None:
        unknown = {
            stream: position
            for stream, position in news.items()
            if not self._backlog.hear(stream, position) and not self._is_foreign(stream)
        }
        if not unknown:
            return
        rows = store.find_streams(unknown)
        if len(rows) < len(unknown):
            store.register_streams(unknown.keys() - {row.stream for row in rows})
            rows = store.find_streams(unknown)
        self._remember_foreign(rows)
        self._backlog.learn(rows, self._leases.terms)

    def _register(self, store: Store, streams: Collection[Stream]) -> None:
        if streams:
            store.register_streams(streams)

    def _is_foreign(self, stream: Stream) -> bool:
        bucket = self._foreign.get(stream)
        return bucket is not None and bucket not in self._leases.terms

    def _remember_foreign(self, rows: Collection[StreamRow]) -> None:
        if len(self._foreign) > FOREIGN_REMEMBERED:
            self._foreign.clear()
        self._foreign.update({row.stream: row.bucket for row in rows if row.bucket not in self._leases.terms})
