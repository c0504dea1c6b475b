"""What the relay's API takes and answers, as documents."""

from datetime import datetime
from typing import Annotated, Literal

from assay_contracts.timestamps import timestamp
from assay_resolver.streams import Stream
from pydantic import BaseModel, ConfigDict, Field

from assay_relay.api.history import Certificate, Page
from assay_relay.api.retention import Kept, Lease, Stand
from assay_relay.store.history import SnapshotRow
from assay_relay.store.retention import ListedConsumer, StreamState

MOST_REPORTED = 10_000

Tenant = Annotated[str, Field(pattern=r"^ten_[a-z0-9_]{1,60}$")]
CatalogName = Annotated[str, Field(pattern=r"^cat_[a-z0-9_]{1,60}$")]
EpochName = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
Position = Annotated[int, Field(ge=0, le=2**53)]
Because = Annotated[str, Field(min_length=1, max_length=1_000)]


class Document(BaseModel):
    """A body: unknown members are refused, since they may be misspelt ones."""

    model_config = ConfigDict(extra="forbid", strict=True)


class CatalogRef(Document):
    """One catalog of a tenant."""

    tenant_id: Tenant
    catalog_id: CatalogName


class Registering(Document):
    """A consumer; without `catalogs` it reads every stream there is and will be."""

    kind: Literal["live", "shadow"]
    catalogs: Annotated[list[CatalogRef], Field(min_length=1, max_length=1_000)] | None = None


class Progress(CatalogRef):
    """1..position are durably processed."""

    history_epoch: EpochName
    position: Position


class Reporting(Document):
    """Durable progress of one consumer in any number of streams."""

    progress: Annotated[list[Progress], Field(max_length=MOST_REPORTED)]


class Leasing(Document):
    """position: what is above it stays; the floor of now where none is given."""

    purpose: Annotated[str, Field(min_length=1, max_length=200)]
    seconds: Annotated[float, Field(gt=0)]
    position: Position | None = None


class Renewing(Document):
    """seconds from now; position: the pin moves forward to it, never back."""

    seconds: Annotated[float, Field(gt=0)]
    position: Position = 0


class StreamRef(BaseModel):
    """What positions are counted in."""

    tenant_id: str
    catalog_id: str
    history_epoch: str


class FloorView(StreamRef):
    """1..floor of the stream are gone."""

    floor: int


class RegisteredView(BaseModel):
    """A registration. floors: of which streams something is gone; a consumer begins there with a snapshot."""

    name: str
    kind: str
    created: bool
    floors: list[FloorView]


class StandView(StreamRef):
    """acknowledged: what the consumer has said; outcome: what became of what it said now."""

    outcome: str
    acknowledged: int
    floor: int
    head: int


class StandsView(BaseModel):
    """In the order of tenant, catalog, epoch."""

    streams: list[StandView]


class ConsumerView(BaseModel):
    """A consumer and how long it has been silent."""

    name: str
    kind: str
    every_stream: bool
    registered_at: str
    registered_by: str
    reported_at: str | None
    silent_seconds: float


class ConsumersView(BaseModel):
    """The longest silent first."""

    consumers: list[ConsumerView]


class LeaseView(StreamRef):
    """Nothing above `position` goes before `expires_at`."""

    lease_id: str
    position: int
    expires_at: str


class StreamView(StreamRef):
    """1..head are committed, 1..published are in Kafka, 1..floor are gone; digests run over 1..head and 1..floor."""

    state: str
    head: int
    digest: str
    published: int
    floor: int
    floor_digest: str


class StreamsView(BaseModel):
    """A page; `next` is the `after` of the following one, null at the end."""

    streams: list[StreamView]
    next: str | None


class EventView(BaseModel):
    """An event; value: the text of Kafka's bytes, which the digest hashes as UTF-8."""

    position: int
    event_id: str
    value: str


class EventsView(BaseModel):
    """Consecutive events; `next` is the `after` of the following page, null where the stream ends."""

    stream: StreamView
    events: list[EventView]
    next: int | None


class CertificateView(StreamRef):
    """digest: over 1..position. contiguous: the history holds each of 1..position."""

    position: int
    digest: str
    held: int
    contiguous: bool
    head: int
    floor: int


class KeeperView(BaseModel):
    """Who keeps what is above `position`; until: the lease's end; a consumer never vanishes by itself."""

    type: str
    name: str
    kind: str
    position: int
    has_spoken: bool
    seen_at: str | None
    until: str | None
    holds: bool


class KeptView(BaseModel):
    """Everything above the floor is kept; `held_at`: the floor cannot pass this position, because of `held_by`."""

    stream: StreamView
    kept: int
    held_at: int
    held_by: list[str]
    released_by: str | None
    keepers: list[KeeperView]


class SnapshotView(StreamRef):
    """An immutable object, a JSON document a line: a head, then facts. lease: pins what follows it."""

    position: int
    digest: str
    sha256: str
    bytes: int
    facts: int
    is_genesis: bool
    created_at: str
    lease: LeaseView | None = None


class EpochView(BaseModel):
    """One incarnation of the history."""

    ordinal: int
    name: str
    state: str


class EpochsView(BaseModel):
    """Oldest first."""

    epochs: list[EpochView]


def ref(stream: Stream) -> dict[str, str]:
    """A stream's names."""
    return {"tenant_id": stream.tenant_id, "catalog_id": stream.catalog_id, "history_epoch": stream.history_epoch}


def stand_view(stand: Stand) -> StandView:
    """A report's answer for one stream."""
    return StandView(
        **ref(stand.stream), outcome=stand.outcome, acknowledged=stand.acknowledged, floor=stand.floor, head=stand.head
    )


def consumer_view(row: ListedConsumer) -> ConsumerView:
    """A consumer as listed."""
    return ConsumerView(
        name=row.name,
        kind=row.kind,
        every_stream=row.every_stream,
        registered_at=timestamp(row.registered_at),
        registered_by=row.registered_by,
        reported_at=_moment(row.reported_at),
        silent_seconds=round(row.silent_seconds, 1),
    )


def lease_view(lease: Lease) -> LeaseView:
    """A lease as it stands."""
    return LeaseView(
        **ref(lease.stream),
        lease_id=lease.lease_id,
        position=lease.position,
        expires_at=timestamp(lease.expires_at),
    )


def stream_view(stream: Stream, state: StreamState) -> StreamView:
    """A stream's ends."""
    return StreamView(
        **ref(stream),
        state=state.epoch_state,
        head=state.head,
        digest=state.digest.hex(),
        published=state.published,
        floor=state.floor,
        floor_digest=state.floor_digest.hex(),
    )


def events_view(stream: Stream, page: Page) -> EventsView:
    """A page of events."""
    events = [
        EventView(position=row.position, event_id=str(row.event_id), value=row.value.decode()) for row in page.events
    ]
    last = events[-1].position if events else None
    more = last is not None and last < page.state.head
    return EventsView(stream=stream_view(stream, page.state), events=events, next=last if more else None)


def certificate_view(found: Certificate) -> CertificateView:
    """A certificate."""
    return CertificateView(
        **ref(found.stream),
        position=found.position,
        digest=found.digest.hex(),
        held=found.held,
        contiguous=found.held == found.position,
        head=found.state.head,
        floor=found.state.floor,
    )


def kept_view(kept: Kept) -> KeptView:
    """What is kept of a stream, and because of whom."""
    holding = [one for one in kept.keepers if one.holds and not (one.type == "consumer" and kept.released_by)]
    live = kept.released_by or any(one.type == "consumer" for one in holding)
    held_at = min([kept.state.published, *(one.position for one in holding)]) if live else kept.state.floor
    held_by = [f"{one.type} {one.name}" for one in holding if one.position == held_at]
    if not live:
        held_by = ["no live consumer reads it: register one, or release the stream"]
    elif held_at == kept.state.published and held_at < kept.state.head:
        held_by.append("the relay has not published what follows")
    return KeptView(
        stream=stream_view(kept.stream, kept.state),
        kept=kept.state.head - kept.state.floor,
        held_at=held_at,
        held_by=held_by,
        released_by=kept.released_by,
        keepers=[
            KeeperView(
                type=one.type,
                name=one.name,
                kind=one.kind,
                position=one.position,
                has_spoken=one.has_spoken,
                seen_at=_moment(one.seen_at),
                until=_moment(one.until),
                holds=one.holds,
            )
            for one in kept.keepers
        ],
    )


def snapshot_view(stream: Stream, row: SnapshotRow, lease: Lease | None = None) -> SnapshotView:
    """A snapshot, with the lease that was made for it."""
    return SnapshotView(
        **ref(stream),
        position=row.position,
        digest=row.digest.hex(),
        sha256=row.sha256,
        bytes=row.bytes,
        facts=row.facts,
        is_genesis=row.is_genesis,
        created_at=timestamp(row.created_at),
        lease=None if lease is None else lease_view(lease),
    )


def _moment(at: datetime | None) -> str | None:
    return None if at is None else timestamp(at)
