"""Valid histories of a catalog, to be delivered in any order."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from assay_contracts.encoder import encode
from assay_contracts.envelope import Envelope
from assay_contracts.events import AggregateType, CatalogEvent, EventType
from assay_contracts.ids import CatalogId, TenantId, attribute_id, uuid7
from assay_contracts.timestamps import timestamp
from assay_product.deliveries import TOPIC, Catalog, Delivery
from assay_product.projection import Ref, Row, fold

EPOCH = "history-1"
TOPIC_ID = UUID("0192f4e2-7c10-7c71-a4b1-0a3f1c2b8d44")
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


class Story:
    """A valid history of one catalog: what its decisions changed, event by event, as the relay would send it."""

    def __init__(self, tenant: str = "ten_a", catalog: str | None = None, epoch: str = EPOCH) -> None:
        self.catalog = Catalog(TenantId(tenant), CatalogId(catalog or f"cat_{uuid4().hex}"))
        self.epoch = epoch
        self.events: list[CatalogEvent] = []
        self.values: list[bytes] = []
        self._revisions: dict[Ref, int] = {}

    def create(self, item: str) -> None:
        """A new item."""
        self._tell("item", item, {"from_listing_id": None}, "item.created")

    def change(self, item: str, because: str = "revived") -> None:
        """An item that is active again."""
        self._tell("item", item, {"because": because}, "item.changed")

    def retire(self, item: str) -> None:
        """An item that is hidden."""
        self._tell("item", item, {"reason": "discontinued"}, "item.retired")

    def merge(self, item: str, into: str) -> None:
        """An item that is another."""
        self._tell("item", item, {"into": into}, "item.merged", Ref("item", into))

    def map(self, listing: str, item: str, key: str | None = None) -> None:
        """A listing that is an item."""
        data = {
            "item_id": item,
            "home_item_id": item,
            "source_id": "src_shop",
            "listing_key": key or f"https://shop.example/{listing}",
            "serial": 1,
            "url": key or f"https://shop.example/{listing}",
            "group_key": None,
            "via": "gtin",
            "score": None,
            "evidence": [self._evidence("page")],
        }
        self._tell("mapping", listing, data, "mapping.set", Ref("item", item))

    def unmap(self, listing: str) -> None:
        """A listing that is nothing."""
        self._tell("mapping", listing, {"reason": "rejected"}, "mapping.cleared")

    def set(self, owner: str, name: str, value: dict[str, Any], line: str | None = None) -> None:
        """An accepted value."""
        kind = "item" if owner.startswith("item_") else "listing"
        data = {
            "owner": {"type": kind, "id": owner},
            "name": name,
            "line": line,
            "value": value,
            "by": "rule",
            "evidence": [self._evidence(str(value)[:200])],
        }
        rests_on = Ref("item" if kind == "item" else "mapping", owner)
        self._tell("attribute", attribute_id(owner, name, line), data, "attribute.set", rests_on)

    def clear(self, owner: str, name: str, line: str | None = None) -> None:
        """A value that nobody states any more."""
        kind = "item" if owner.startswith("item_") else "listing"
        data = {"owner": {"type": kind, "id": owner}, "name": name, "line": line, "reason": "unsupported"}
        self._tell("attribute", attribute_id(owner, name, line), data, "attribute.cleared")

    def name(self, owner: str, text: str) -> None:
        """An accepted name."""
        self.set(owner, "name", {"type": "text", "text": text, "lang": None})

    def product(self, n: int, gtin: str | None = None) -> str:
        """A whole item: created, mapped, with name, brand, gtin and one offer."""
        item, listing = f"item_{n}", f"lst_{n}"
        self.create(item)
        self.map(listing, item)
        self.name(item, f"Kettle {n}")
        self.set(item, "brand", {"type": "text", "text": "Acme", "lang": None})
        if gtin is not None:
            self.set(item, "gtin", {"type": "list", "values": [{"type": "code", "code": gtin}]})
        self.offer(listing, "19.9")
        return item

    def offer(self, listing: str, price: str) -> None:
        """What a listing asks for."""
        offer = dict.fromkeys(("price_high", "condition", "seller", "sku", "label", "valid_at", "valid_until"))
        self.set(
            listing,
            "offer",
            {"type": "offer", "price": price, "currency": "EUR", "availability": "in_stock", **offer},
        )

    def deliveries(self, *positions: int) -> list[Delivery]:
        """The events at these positions, or all, as Kafka would deliver them one after another."""
        chosen = positions or range(1, len(self.values) + 1)
        return [self.delivery(self.values[position - 1], offset) for offset, position in enumerate(chosen)]

    def delivery(self, value: bytes | None, offset: int = 0) -> Delivery:
        """A record with this value."""
        return Delivery(TOPIC, TOPIC_ID, 0, offset, self.catalog.tenant_id.encode(), value)

    def fold(self, through: int | None = None) -> dict[Ref, Row]:
        """What the catalog is after its events up to a position, in order."""
        rows: dict[Ref, Row] = {}
        for event in self.events[:through]:
            assert event.data is not None
            rows[Ref(event.aggregate.type, event.aggregate.id)] = fold(event, event.data)
        return rows

    def _tell(
        self, kind: AggregateType, subject: str, data: dict[str, Any], event_type: EventType, *rests_on: Ref
    ) -> None:
        ref = Ref(kind, subject)
        revision = self._revisions.get(ref, 0) + 1
        self._revisions[ref] = revision
        identity, position = uuid7(), len(self.events) + 1
        event = CatalogEvent.model_validate(
            {
                "event_id": f"evt_{identity.hex}",
                "tenant_id": self.catalog.tenant_id,
                "catalog_id": self.catalog.catalog_id,
                "history_epoch": self.epoch,
                "position": position,
                "aggregate": {"type": kind, "id": subject},
                "revision": revision,
                "dependencies": [
                    {"type": one.type, "id": one.id, "revision": self._revisions[one]} for one in rests_on
                ],
                "type": event_type,
                "decision_id": f"dec_{position}",
                "occurred_at": timestamp(BEGAN + timedelta(seconds=position)),
                "data": data,
            }
        )
        self.events.append(event)
        self.values.append(encode(Envelope(id=identity, ts=1, attempt=1, payload=event)))

    def _evidence(self, raw: str) -> dict[str, str]:
        sha256 = "ab" * 32
        return {
            "fact": "rdg_1:0",
            "receipt_id": "rcpt_1",
            "capture_id": "cap_1",
            "source_id": "src_shop",
            "sha256": sha256,
            "ref": f"r2://evidence-private/{self.catalog.tenant_id}/{sha256}",
            "media_type": "text/html",
            "place_syntax": "json_pointer",
            "place": "0#/name",
            "raw": raw,
            "adapter": "pa_schema_org@1.0.0",
            "profile": "np_product@1",
        }
