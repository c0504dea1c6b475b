"""⑥ A change as the event that Kafka will get, and the evidence it shows."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from assay_contracts.encoder import encode
from assay_contracts.envelope import Envelope
from assay_contracts.errors import InvalidMessage
from assay_contracts.messages import CatalogEvent
from assay_contracts.timestamps import timestamp

from assay_resolver.errors import EventTooLarge
from assay_resolver.reading import Document, Fact
from assay_resolver.streams import Cursor


@dataclass(frozen=True, slots=True)
class Event:
    """One changed revision of one aggregate. data: the whole state after it, as the contract of its type says.

    kept_support: the facts (reading, n) of an older revision whose data it repeats.
    """

    type: str
    aggregate: str
    id: str
    revision: int
    data: Document
    dependencies: tuple[tuple[str, str, int], ...] = ()
    support: tuple[Fact, ...] = ()
    kept_support: tuple[tuple[str, int], ...] = ()

    @property
    def supported_by(self) -> tuple[tuple[str, int], ...]:
        """The facts (reading, n) that it rests on, each once: those of an older revision where it repeats one."""
        return self.kept_support or tuple(dict.fromkeys((fact.reading_id, fact.n) for fact in self.support))


def event_bytes(event: Event, event_id: UUID, decision_id: str, cursor: Cursor) -> bytes:
    """The Kafka value of the event that follows the cursor; EventTooLarge, or InvalidMessage if it is none."""
    stream = cursor.stream
    payload = CatalogEvent.model_validate(
        {
            "event_id": f"evt_{event_id.hex}",
            "tenant_id": stream.tenant_id,
            "catalog_id": stream.catalog_id,
            "history_epoch": stream.history_epoch,
            "position": cursor.position + 1,
            "aggregate": {"type": event.aggregate, "id": event.id},
            "revision": event.revision,
            "dependencies": [{"type": kind, "id": id_, "revision": at} for kind, id_, at in event.dependencies],
            "type": event.type,
            "decision_id": decision_id,
            "occurred_at": timestamp(cursor.now),
            "data": event.data,
        }
    )
    envelope = Envelope(id=event_id, ts=int(cursor.now.timestamp()), attempt=1, payload=payload)
    try:
        return encode(envelope)
    except InvalidMessage as error:
        if error.reason == "too_large":
            raise EventTooLarge from error
        raise


def evidence_of(tenant_id: str, facts: Iterable[Fact]) -> list[dict[str, object]]:
    """Facts as an event shows them, each once."""
    return [
        {
            "fact": f"{fact.reading_id}:{fact.n}",
            "receipt_id": fact.evidence.receipt_id,
            "capture_id": fact.evidence.capture_id,
            "source_id": fact.evidence.source_id,
            "sha256": fact.evidence.sha256,
            "ref": f"r2://evidence-private/{tenant_id}/{fact.evidence.sha256}",
            "media_type": fact.evidence.media_type,
            "place_syntax": fact.evidence.place_syntax,
            "place": fact.evidence.place,
            "raw": fact.evidence.raw,
            "adapter": fact.evidence.adapter,
            "profile": fact.evidence.profile,
        }
        for fact in dict.fromkeys(facts)
    ]
