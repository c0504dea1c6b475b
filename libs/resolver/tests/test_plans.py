"""Hot statements of a decision touch what they are about and nothing else, however large the catalog is."""

import uuid
from collections.abc import Iterator
from typing import Any, TypeAlias, cast

import psycopg
import pytest
from assay_cli.stack import databases
from assay_cli.stack.databases import Database
from assay_runtime import sql

from .world import World

ITEMS = 20_000
SCOPE = {"tenant_id": "ten_one", "catalog_id": "cat_main"}
KEYS: dict[str, object] = {"kinds": ["gtin"], "values": ["g77"]}
SMALL = {"cursor", "source", "history_epoch"}
"""Tables of one row here, which are read as a whole."""
MOST_ROWS = 60
"""Rows that a statement about a few things may look at."""

Plan: TypeAlias = dict[str, Any]

STATEMENTS: list[tuple[str, str, dict[str, object]]] = [
    ("cursor", "lock_cursor", {"history_epoch": "history-1"}),
    ("decision", "find_decision", {"request_id": "req-77"}),
    ("decision", "changes_of", {"decision_id": "dec_77"}),
    ("decision", "changes_after", {"aggregate": "item", "id": "item_77", "after": 0}),
    ("decision", "decisions_about", {"about": "item_77", "before": None, "limit": 50}),
    ("decision", "list_decisions", {"before": None, "limit": 50}),
    ("item", "find_items", {"items": ["item_77", "item_78"]}),
    ("item", "find_item_states", {"items": ["item_77"]}),
    ("item", "roots_of_items", {"items": ["item_77"]}),
    ("item", "mappings_of_items", {"items": ["item_77"]}),
    ("item", "mappings_told", {"listings": ["lst_77"], "revisions": [1]}),
    ("item", "items_with_more_listings", {"items": ["item_77"], "most": 999}),
    ("item", "find_attributes", {"owners": ["item_77", "lst_77"]}),
    ("item", "standing_pins", {"items": ["item_77"]}),
    ("item", "roots_of_keys", KEYS),
    ("item", "derive_item_keys", KEYS),
    ("item", "drop_item_keys", KEYS),
    ("listing", "find_listings", {"listings": ["lst_77"]}),
    ("listing", "listings_of_items", {"items": ["item_77"]}),
    ("listing", "lock_listings", {"listings": ["lst_77", "lst_78"]}),
    ("listing", "superseded_listings", {"listings": ["lst_77"]}),
    ("listing", "items_in_blocks", {**KEYS, "most": 200, "limit": 30}),
    ("listing", "unmapped_with_keys", {**KEYS, "limit": 100}),
    ("part", "parts_of_decision", {"decision_id": "dec_77"}),
    ("part", "later_parts", {"kinds": ["item"], "subjects": ["item_77"], "decision_id": "dec_"}),
    ("review_case", "raise_revisions", {"ids": ["item_77", "lst_77"], "decision_id": "dec_77"}),
    ("review_case", "open_reasons", {"subject": "lst_77"}),
    ("review_case", "asked_readings", {"subject": "lst_77"}),
    ("verdict", "items_differing_from", {"listing_id": "lst_77"}),
    ("verdict", "tree_of_item", {"item_id": "item_77"}),
    ("verdict", "verdicts_between", {"one": ["item_77"], "other": ["item_78"]}),
]


@pytest.fixture(scope="module")
def large(resolver_template: Database) -> Iterator[psycopg.Connection]:
    """A catalog of many items, each with a listing, a decision, values and an open case."""
    database = databases.copy(resolver_template, f"plans_{uuid.uuid4().hex}")
    with psycopg.connect(database.admin_dsn, autocommit=True) as admin:
        World(admin).found()
        admin.execute("SET session_replication_role = replica")
        for statement in _ROWS.split(";")[:-1]:
            admin.execute(statement.encode(), {"n": ITEMS})
        admin.execute("SET session_replication_role = origin")
        admin.execute("VACUUM ANALYZE")
        yield admin
    databases.drop(database)


@pytest.mark.xdist_group("plans")
@pytest.mark.parametrize(("file", "name", "parameters"), STATEMENTS, ids=[name for _, name, _ in STATEMENTS])
def test_a_statement_touches_what_it_is_about(
    large: psycopg.Connection, file: str, name: str, parameters: dict[str, object]
) -> None:
    statement = b"EXPLAIN (ANALYZE, FORMAT JSON) " + sql.load("assay_resolver", file)[name].encode()
    with large.transaction(force_rollback=True):
        large.execute("SET LOCAL session_replication_role = replica")
        row = large.execute(statement, {**SCOPE, **parameters}).fetchone()
    assert row is not None
    nodes = list(_nodes(cast("Plan", row[0][0]["Plan"])))
    assert {node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"} <= SMALL
    touched = sum(
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"] for node in nodes
    )
    assert touched <= MOST_ROWS * max(1, int(str(parameters.get("limit", 0))) // 10), touched


def _nodes(plan: Plan) -> Iterator[Plan]:
    if "Scan" in str(plan["Node Type"]):
        yield plan
    for child in plan.get("Plans", []):
        yield from _nodes(child)


_ROWS = """
INSERT INTO source (tenant_id, source_id) VALUES ('ten_one', 'src_shop');
INSERT INTO cursor (tenant_id, catalog_id, history_epoch) VALUES ('ten_one', 'cat_main',
    'history-1');
INSERT INTO decision SELECT 'ten_one', 'cat_main', 'dec_' || n, 'history-1', 'req-' || n,
    'rule.create', 'rule', 'x', '{}', '{}', '{}', NULL, now() FROM generate_series(1, %(n)s) AS n;
INSERT INTO change SELECT 'ten_one', 'cat_main', kind, prefix || n, 1, 'dec_' || n,
    gen_random_uuid(), 'history-1', 3 * n + place, 'x', '{}' FROM generate_series(1, %(n)s) AS n,
    (VALUES ('item', 'item_', 0), ('mapping', 'lst_', 1), ('attribute', 'item_x/', 2)) AS k (kind,
    prefix, place);
INSERT INTO support SELECT 'ten_one', 'cat_main', 'mapping', 'lst_' || n, 1, 'rdg_' || n, 0 FROM
    generate_series(1, %(n)s) AS n;
INSERT INTO item (tenant_id, catalog_id, item_id, state, merged_into, revision) SELECT 'ten_one',
    'cat_main', 'item_' || n, CASE WHEN n %% 10 = 0 THEN 'merged' ELSE 'active' END, CASE WHEN n %%
    10 = 0 THEN 'item_' || n - 1 END, 1 FROM generate_series(1, %(n)s) AS n;
INSERT INTO listing (tenant_id, catalog_id, listing_id, source_id, key, reading_id) SELECT
    'ten_one', 'cat_main', 'lst_' || n, 'src_shop', 'k' || n, 'rdg_' || n FROM generate_series(1,
    %(n)s) AS n;
INSERT INTO listing_key SELECT 'ten_one', 'cat_main', 'gtin', 'g' || n, 'lst_' || n FROM
    generate_series(1, %(n)s) AS n;
INSERT INTO mapping (tenant_id, catalog_id, listing_id, home_item_id, item_id, via, revision) SELECT
    'ten_one', 'cat_main', 'lst_' || n, 'item_' || n, 'item_' || n, 'new', 1 FROM generate_series(1,
    %(n)s) AS n;
INSERT INTO attribute (tenant_id, catalog_id, owner_type, owner_id, name, line, attribute_id, value,
    by, revision) SELECT 'ten_one', 'cat_main', 'item', 'item_' || n, 'name', '', 'item_' || n ||
    '/name', '{}', 'rule', 1 FROM generate_series(1, %(n)s) AS n;
INSERT INTO item_key SELECT 'ten_one', 'cat_main', 'gtin', 'g' || n, 'item_' || n FROM
    generate_series(1, %(n)s) AS n;
INSERT INTO pin SELECT 'ten_one', 'cat_main', 'item_' || n, 'color', 'dec_' || n, 'rdg_' || n, 0,
    NULL FROM generate_series(1, %(n)s) AS n;
INSERT INTO verdict SELECT 'ten_one', 'cat_main', 'item_' || n, 'lst_' || n, 'dec_' || n, NULL FROM
    generate_series(1, %(n)s) AS n;
INSERT INTO review_case (tenant_id, catalog_id, case_id, kind, subject, reading_id, reason,
    opened_at) SELECT 'ten_one', 'cat_main', 'case_' || n, 'match', 'lst_' || n, 'rdg_' || n,
    'looks_alike', now() FROM generate_series(1, %(n)s) AS n;
INSERT INTO case_ref SELECT 'ten_one', 'cat_main', 'case_' || n, 'item', 'item_' || n FROM
    generate_series(1, %(n)s) AS n;
INSERT INTO decision_part SELECT 'ten_one', 'cat_main', 'dec_' || n, 0, 'item', 'item_' || n, NULL,
    '{}' FROM generate_series(1, %(n)s) AS n;
"""
