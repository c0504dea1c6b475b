"""A small catalog to decide about: tenants, sources and captures with readings, written as the pipeline would."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import psycopg
from assay_cli.check.settled import settle_again
from assay_contracts.ids import new_id
from assay_resolver.reading import canonical
from assay_resolver.rules import Resolved, resolve_capture
from assay_resolver.streams import Connection, Stream
from assay_runtime import sql

EPOCH = "history-1"
CHECKED = ("i4_", "i6_", "i14_value_without_decision", "i14_evidence_is_not_its_support", "model_")
PAGE = "https://shop.example/p"
START = datetime(2026, 1, 1, tzinfo=UTC)


def text(words: str) -> dict[str, object]:
    return {"type": "text", "text": words, "lang": None}


def code(value: str) -> dict[str, object]:
    return {"type": "code", "code": value}


def number(value: str) -> dict[str, object]:
    return {"type": "number", "number": value, "unit": None}


def product(name: str, **more: object) -> dict[str, dict[str, object]]:
    """Facts of a page by name; plain strings become the value type that their name has."""
    makers = {"price": number, "brand": text, "color": text, "seller": text}
    stated = {"name": text(name)}
    for key, value in more.items():
        stated[key] = makers.get(key, code)(str(value))
    return stated


@dataclass
class World:
    """One tenant's catalog in a database; `admin` writes what other stages would have written."""

    admin: psycopg.Connection
    tenant: str = "ten_one"
    catalog: str = "cat_main"
    hours: int = 0
    captures: list[str] = field(default_factory=list[str])

    @property
    def stream(self) -> Stream:
        return Stream(self.tenant, self.catalog, EPOCH)

    def found(self) -> "World":
        """Make the tenant and its catalog."""
        self.admin.execute("INSERT INTO tenant (tenant_id) VALUES (%s) ON CONFLICT DO NOTHING", [self.tenant])
        self.admin.execute("INSERT INTO catalog (tenant_id, catalog_id) VALUES (%s, %s)", [self.tenant, self.catalog])
        return self

    def capture(
        self,
        facts: Mapping[str, Mapping[str, object]],
        *,
        source: str = "src_shop",
        url: str = PAGE,
        status: int = 200,
        at: int | None = None,
    ) -> str:
        """Store a capture observed `at` hours after the start (default: after the one before), with one reading."""
        self.hours += 1
        observed = START + timedelta(hours=self.hours if at is None else at)
        capture_id, sha256 = new_id("cap"), hashlib.sha256(f"{url}{self.hours}{facts}".encode()).hexdigest()
        scope = {"t": self.tenant, "c": self.catalog, "cap": capture_id, "src": source, "sha": sha256, "url": url}
        run = self.admin.execute
        run("INSERT INTO source (tenant_id, source_id) VALUES (%(t)s, %(src)s) ON CONFLICT DO NOTHING", scope)
        run("INSERT INTO evidence VALUES (%(t)s, %(sha)s, 10, 'text/html', 'stored') ON CONFLICT DO NOTHING", scope)
        run(
            "INSERT INTO capture (tenant_id, capture_id, catalog_id, source_id, url, fetch_status, observed_at,"
            " received_at) VALUES (%(t)s, %(cap)s, %(c)s, %(src)s, %(url)s, %(status)s, %(at)s, %(at)s)",
            {**scope, "status": status, "at": observed},
        )
        run(
            "INSERT INTO receipt VALUES (%(t)s, %(r)s, %(cap)s, %(r)s, '\\x00', %(at)s)",
            {**scope, "r": new_id("rcpt"), "at": observed},
        )
        if facts:
            self._read(scope, facts)
        self.captures.append(capture_id)
        return capture_id

    def _read(self, scope: Mapping[str, object], facts: Mapping[str, Mapping[str, object]]) -> None:
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).digest()
        reading = {**scope, "rdg": new_id("rdg"), "digest": digest, "a": "pa_schema_org@1.0.0"}
        run = self.admin.execute
        run("INSERT INTO extraction VALUES (%(t)s, %(c)s, %(cap)s, 1, %(sha)s, %(a)s, 'ok', '[]')", reading)
        run(
            "INSERT INTO reading VALUES (%(t)s, %(c)s, %(rdg)s, %(cap)s, 1, '', %(url)s, NULL, 'np_product@1',"
            " %(digest)s)",
            reading,
        )
        for n, (name, value) in enumerate(facts.items()):
            run(
                "INSERT INTO fact VALUES (%(t)s, %(c)s, %(rdg)s, %(n)s, %(cap)s, 1, %(sha)s, %(a)s, %(name)s, '',"
                " 'raw', %(value)s, NULL, 'json_pointer', '0#/name')",
                {**reading, "n": n, "name": name, "value": canonical(value)},
            )

    async def resolve(self, conn: Connection, capture_id: str, gone: str | None = None) -> Resolved:
        """Let the rule decide a capture in a transaction of its own."""
        async with conn.transaction():
            return await resolve_capture(conn, self.stream, capture_id, 1, f"{capture_id}:identity:1", gone=gone)

    async def see(self, conn: Connection, facts: Mapping[str, Mapping[str, object]], **capture: object) -> Resolved:
        """Capture and decide; a status but 200 is that of a page which is gone."""
        gone = str(capture.get("url", PAGE)) if capture.get("status", 200) != 200 else None
        return await self.resolve(conn, self.capture(facts, **capture), gone)  # pyright: ignore[reportArgumentType]

    def one(self, query: str, *parameters: object) -> tuple[object, ...]:
        """The one row that a query finds."""
        row = self.admin.execute(query.encode(), parameters).fetchone()
        assert row is not None
        return row

    def rows(self, query: str, *parameters: object) -> list[tuple[object, ...]]:
        """All rows that a query finds."""
        return self.admin.execute(query.encode(), parameters).fetchall()

    def wrongs(self) -> list[str]:
        """Whatever the checker finds in the rows of this database: no pipeline wrote them, so no jobs are asked for."""
        rules = sql.load("assay_cli", "check_resolver")
        asked = [name for name in rules if name.startswith(CHECKED)]
        found = [f"{name} {row[0]}" for name in asked for row in self.admin.execute(rules[name]).fetchall()]
        with self.admin.transaction():
            return found + [f"{one.rule} {one.subject}" for one in settle_again(self.admin)]

    def item_of(self, page: str) -> str:
        """The item that a page's listing is."""
        return str(self.one("SELECT item_id FROM mapping JOIN listing USING (listing_id) WHERE key = %s", page)[0])

    def listing_of(self, page: str) -> str:
        """The newest listing of a page."""
        rows = self.rows("SELECT listing_id FROM listing WHERE key = %s ORDER BY serial DESC", page)
        return str(rows[0][0])

    def revision(self, item_id: str) -> int:
        """An item's revision."""
        return int(str(self.one("SELECT revision FROM item WHERE item_id = %s", item_id)[0]))

    def mapping_revision(self, listing_id: str) -> int:
        """The revision of a listing's mapping."""
        return int(str(self.one("SELECT revision FROM mapping WHERE listing_id = %s", listing_id)[0]))

    def accepted(self, item_id: str) -> dict[str, str]:
        """An item's accepted values by name."""
        rows = self.rows("SELECT name, value FROM attribute WHERE owner_id = %s AND value IS NOT NULL", item_id)
        return {str(name): str(value) for name, value in rows}

    def picture(self) -> dict[str, list[tuple[object, ...]]]:
        """What is asserted and accepted, without revisions, clocks, verdicts, and items whose making was undone."""
        queries = {
            "mapping": "SELECT listing_id, home_item_id, item_id FROM mapping WHERE item_id IS NOT NULL ORDER BY 1",
            "item": "SELECT i.item_id, i.state, i.merged_into FROM item i JOIN change c ON c.aggregate = 'item'"
            " AND c.id = i.item_id AND c.revision = i.revision"
            " WHERE c.data::json ->> 'reason' IS DISTINCT FROM 'undone' ORDER BY 1",
            "pin": "SELECT item_id, name, reading_id FROM pin WHERE withdrawn_by IS NULL ORDER BY 1, 2",
            "listing": "SELECT listing_id, state, reading_id FROM listing ORDER BY 1",
            "attribute": "SELECT owner_id, name, line, value, by FROM attribute WHERE value IS NOT NULL"
            " ORDER BY 1, 2, 3",
            "item_key": "SELECT kind, value, item_id FROM item_key ORDER BY 1, 2",
        }
        return {name: self.rows(query) for name, query in queries.items()}
