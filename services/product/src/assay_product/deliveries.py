"""⑥ to ⑦: what Kafka delivered becomes an event of the accepted history, or a refusal with its reason."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple
from uuid import UUID

from assay_contracts.decoder import check_key, decode
from assay_contracts.envelope import Envelope
from assay_contracts.errors import InvalidMessage
from assay_contracts.events import CatalogEvent
from assay_contracts.ids import CatalogId, TenantId
from assay_contracts.reasons import Reason

from assay_product.errors import UnreadableParked

TOPIC: Final = "catalog.event.v1"

RefusalReason = Reason | Literal["wrong_event_id", "foreign_epoch", "position_conflict", "cannot_apply"]
Headers = Sequence[tuple[str, bytes | None]]


class Catalog(NamedTuple):
    """What a generation is built of; in this order everyone locks."""

    tenant_id: TenantId
    catalog_id: CatalogId

    @classmethod
    def of(cls, tenant_id: str, catalog_id: str) -> "Catalog":
        """A catalog whose names come from a database or an API."""
        return cls(TenantId(tenant_id), CatalogId(catalog_id))


@dataclass(frozen=True, slots=True)
class Delivery:
    """A Kafka record as it came; `topic` is the name without the installation's prefix."""

    topic: str
    topic_id: UUID
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


@dataclass(frozen=True, slots=True)
class Incoming:
    """An event with the bytes that brought it and their digest; `delivery` is None where it comes out of parking."""

    event: CatalogEvent
    event_id: UUID
    value: bytes
    sha256: bytes
    delivery: Delivery | None = None

    @property
    def catalog(self) -> Catalog:
        """The catalog that the event is about."""
        return Catalog(self.event.tenant_id, self.event.catalog_id)


@dataclass(frozen=True, slots=True)
class Refused:
    """A record that takes no effect; a reader that could not make out its tenant leaves it None."""

    delivery: Delivery
    reason: RefusalReason
    cause: str
    tenant_id: TenantId | None = None


def read(delivery: Delivery, history_epoch: str) -> Incoming | Refused:
    """Decode the record; whatever is of another epoch than this one is refused."""
    try:
        envelope = decode("catalog.event.v1", delivery.value)
        tenant_id = check_key(TOPIC, delivery.key, envelope.payload)
    except InvalidMessage as error:
        return Refused(delivery, error.reason, str(error))
    event = envelope.payload
    if event.event_id != f"evt_{envelope.id.hex}":
        return Refused(delivery, "wrong_event_id", f"envelope {envelope.id} carries {event.event_id}", tenant_id)
    if event.history_epoch != history_epoch:
        return Refused(delivery, "foreign_epoch", f"of epoch {event.history_epoch}, not {history_epoch}", tenant_id)
    return _incoming(envelope, delivery.value or b"", delivery)


def read_parked(value: bytes) -> Incoming:
    """The event of a value that was parked."""
    try:
        return _incoming(decode("catalog.event.v1", value), value, None)
    except InvalidMessage as error:
        raise UnreadableParked(str(error)) from error


def _incoming(envelope: Envelope[CatalogEvent], value: bytes, delivery: Delivery | None) -> Incoming:
    return Incoming(envelope.payload, envelope.id, value, hashlib.sha256(value).digest(), delivery)
