"""⑤ A person's value: the statement is evidence like any page, and nothing automatic replaces what it pins."""

import hashlib
from dataclasses import dataclass

from assay_contracts.bounds import RAW
from assay_contracts.ids import new_id
from assay_contracts.messages import Value
from assay_runtime import sql
from pydantic import TypeAdapter, ValidationError

from assay_resolver import facts, registry, streams
from assay_resolver.decisions import Asked, Decided, Request, Writer, first_result
from assay_resolver.errors import AlreadySo, UnknownAttribute, UnknownItem
from assay_resolver.reading import Document, Reading, canonical
from assay_resolver.streams import Connection, Cursor, Stream

PEOPLE = "src_people"
ADAPTER = "pa_statement@1.0.0"
PROFILE = "np_statement@1"
MEDIA_TYPE = "application/json"

_STATEMENT = sql.load("assay_resolver", "statement")
_ITEM = sql.load("assay_resolver", "item")
_VALUE: TypeAdapter[Value] = TypeAdapter(Value)


@dataclass(frozen=True, slots=True)
class Pin:
    """A standing pin: the fact of the person's statement, and the decision that made it."""

    document: Document
    decision_id: str


@dataclass(frozen=True, slots=True)
class PinRequest:
    """A person's value for an item's attribute, whose statement is already stored as evidence.

    value: a contracts value; for a many-valued attribute a list. sha256: 64 hex digits of `statement`.
    """

    stream: Stream
    item_id: str
    name: str
    value: Document
    request_id: str
    actor: str
    rationale: str

    def statement(self) -> bytes:
        """The bytes to store as evidence before the decision's transaction begins."""
        document = {
            "item_id": self.item_id,
            "attribute": self.name,
            "value": self.value,
            "actor": self.actor,
            "rationale": self.rationale,
        }
        return canonical(document).encode()


async def pin_value(conn: Connection, request: PinRequest) -> Decided:
    """Accept a person's value, until a newer pin takes its place or it is withdrawn."""
    check_value(request.name, request.value)
    basis = {"item": request.item_id, "attribute": request.name, "value": canonical(request.value)}
    deciding = Request(f"req:{request.request_id}", "person.pin", request.actor, request.rationale, basis)
    cursor = await streams.lock(conn, request.stream)
    first = await first_result(conn, request.stream, deciding)
    if first is not None:
        return first
    state, _ = (await facts.item_revisions(conn, request.stream, [request.item_id])).get(request.item_id, ("", 0))
    if state != "active":
        raise UnknownItem
    before = await standing(conn, request.stream, request.item_id, request.name)
    reading = await _write_statement(conn, cursor, request)
    prior = () if before is None else (before.decision_id,)
    writer = Writer(conn, cursor, deciding.following(prior))
    await writer.begin(reading.facts)
    await put(
        writer, request.item_id, request.name, before, {"reading_id": reading.reading_id, "n": reading.facts[0].n}
    )
    return await writer.finish()


async def withdraw_pin(conn: Connection, asked: Asked, item_id: str, name: str) -> Decided:
    """A person's value counts no longer: what sources state does again. AlreadySo if nobody pinned one."""
    deciding = asked.deciding("person.unpin", {"item": item_id, "attribute": name})
    cursor = await streams.lock(conn, asked.stream)
    first = await first_result(conn, asked.stream, deciding)
    if first is not None:
        return first
    if not await facts.item_revisions(conn, asked.stream, [item_id]):
        raise UnknownItem
    before = await standing(conn, asked.stream, item_id, name)
    if before is None:
        raise AlreadySo
    writer = Writer(conn, cursor, deciding.following((before.decision_id,)))
    await writer.begin(())
    await put(writer, item_id, name, before, None)
    return await writer.finish()


async def standing(conn: Connection, stream: Stream, item_id: str, name: str) -> Pin | None:
    """The pin of an item's attribute that nobody has withdrawn."""
    parameters = {**stream.scope, "items": [item_id], "names": [name]}
    row = await (await conn.execute(_ITEM["find_pins"], parameters)).fetchone()
    return None if row is None else Pin({"reading_id": row[2], "n": row[3]}, row[4])


async def put(writer: Writer, item_id: str, name: str, before: Pin | None, after: Document | None) -> None:
    """Let a person's value take the place of the standing one; None takes it away. The item's root is settled."""
    row = {**writer.scope, "item_id": item_id, "name": name, "decision_id": writer.decision_id}
    await writer.conn.execute(_ITEM["withdraw_pin"], row)
    if after is not None:
        await writer.conn.execute(_ITEM["insert_pin"], {**row, **after})
    writer.note("pin", f"{item_id}/{name}", None if before is None else before.document, after)
    leads = await facts.roots_of_items(writer.conn, writer.stream, [item_id], writer.merging)
    writer.touch_item(leads[item_id])


def check_value(name: str, value: Document) -> None:
    """UnknownAttribute unless the registry has the item attribute and the value is one of its type."""
    attribute = registry.ITEM.get(name)
    if attribute is None or len(canonical(value)) > RAW:
        raise UnknownAttribute
    try:
        parsed = _VALUE.validate_python(dict(value))
    except ValidationError:
        raise UnknownAttribute from None
    types = [one.type for one in parsed.values] if parsed.type == "list" else [parsed.type]
    if (parsed.type == "list") != attribute.many or any(one != attribute.type for one in types):
        raise UnknownAttribute


def _idempotency_key(request: PinRequest) -> str:
    """Receipts are a tenant's, request ids a catalog's."""
    named = f"{request.stream.catalog_id} {request.request_id}"
    return f"statement:{hashlib.sha256(named.encode()).hexdigest()}"


async def _write_statement(conn: Connection, cursor: Cursor, request: PinRequest) -> Reading:
    """Capture, receipt, extraction, reading and fact of the statement, in the decision's own transaction."""
    statement, value = request.statement(), canonical(request.value)
    parameters = {
        **request.stream.scope,
        "source_id": PEOPLE,
        "capture_id": new_id("cap"),
        "artifact_id": new_id("art"),
        "receipt_id": new_id("rcpt"),
        "reading_id": new_id("rdg"),
        "key": f"statement:{request.item_id}/{request.name}",
        "idempotency_key": _idempotency_key(request),
        "body_digest": hashlib.sha256(statement).digest(),
        "sha256": hashlib.sha256(statement).hexdigest(),
        "bytes": len(statement),
        "media_type": MEDIA_TYPE,
        "adapter": ADAPTER,
        "profile": PROFILE,
        "found": statement,
        "digest": hashlib.sha256(value.encode()).digest(),
        "name": request.name,
        "raw": value,
        "value": value,
        "at": cursor.now,
    }
    for statement_name in (
        "ensure_people",
        "insert_evidence",
        "insert_capture",
        "insert_artifact",
        "insert_receipt",
        "insert_extraction",
        "insert_reading",
        "insert_fact",
    ):
        await conn.execute(_STATEMENT[statement_name], parameters)
    reading_id = str(parameters["reading_id"])
    return (await facts.readings(conn, request.stream, [reading_id]))[reading_id]
