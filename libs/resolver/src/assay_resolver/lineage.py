"""Why a value is there: from the accepted value to its decision, its facts, their places, bytes and receipts."""

from dataclasses import dataclass

from assay_contracts.evidence import evidence_uri
from assay_contracts.ids import TenantId
from assay_contracts.timestamps import timestamp
from assay_runtime import sql

from assay_resolver import facts
from assay_resolver.contenders import Contender, contenders
from assay_resolver.errors import UnknownItem
from assay_resolver.reading import document_of
from assay_resolver.streams import Connection, Stream

_LINEAGE = sql.load("assay_resolver", "lineage")


@dataclass(frozen=True, slots=True)
class Lineage:
    """One accepted value, everything that it rests on, and what is stated against it, ready to be shown as JSON."""

    attribute_id: str
    owner_type: str
    owner_id: str
    name: str
    line: str | None
    value: dict[str, object]
    by: str
    revision: int
    event: dict[str, object]
    decision: dict[str, object]
    support: tuple[dict[str, object], ...]
    against: tuple[Contender, ...]


async def explain_item(conn: Connection, stream: Stream, item_id: str, name: str | None = None) -> tuple[Lineage, ...]:
    """Every accepted value of an item and its listings, or those named `name`. UnknownItem if it does not exist."""
    if not await facts.item_revisions(conn, stream, [item_id]):
        raise UnknownItem
    parameters = {**stream.scope, "item_id": item_id, "name": name}
    rows = await (await conn.execute(_LINEAGE["explain_item"], parameters)).fetchall()
    support = await _support(conn, stream, [row[7] for row in rows])
    ids = await facts.listing_ids_of_items(conn, stream, [item_id])
    listings = list((await facts.listings(conn, stream, ids)).values())
    return tuple(
        Lineage(
            attribute_id=row[7],
            owner_type=row[0],
            owner_id=row[1],
            name=row[2],
            line=row[3] or None,
            value=document_of(row[4]),
            by=row[5],
            revision=row[6],
            event={"event_id": f"evt_{row[8].hex}", "history_epoch": row[9], "position": row[10]},
            decision={
                "decision_id": row[11],
                "action": row[12],
                "actor": row[13],
                "rationale": row[14],
                "decided_at": timestamp(row[15]),
            },
            support=tuple(support.get(row[7], ())),
            against=contenders(row[2], row[4], row[5], listings) if row[0] == "item" else (),
        )
        for row in rows
    )


async def _support(conn: Connection, stream: Stream, attributes: list[str]) -> dict[str, list[dict[str, object]]]:
    rows = await conn.execute(_LINEAGE["support_of_attributes"], {**stream.scope, "attributes": attributes})
    found: dict[str, list[dict[str, object]]] = {}
    for row in await rows.fetchall():
        found.setdefault(row[0], []).append(_shown(stream.tenant_id, row[1:]))
    return found


def _shown(tenant_id: str, row: tuple[object, ...]) -> dict[str, object]:
    names = (
        "reading_id", "n", "name", "raw", "value", "place_syntax", "place", "adapter", "profile", "sha256", "bytes",
        "media_type", "capture_id", "source_id", "url", "key", "observed_at", "receipt_id", "received_at",
    )  # fmt: skip
    shown: dict[str, object] = dict(zip(names, row, strict=True))
    shown["fact"] = f"{shown.pop('reading_id')}:{shown.pop('n')}"
    shown["value"] = document_of(str(shown["value"]))
    shown["ref"] = evidence_uri(TenantId(tenant_id), str(shown["sha256"]))
    for name in ("observed_at", "received_at"):
        shown[name] = timestamp(shown[name])  # pyright: ignore[reportArgumentType]  # timestamptz columns
    return shown
