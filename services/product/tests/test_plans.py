"""The hot statements find their rows by an index, at any size and under row level security."""

import psycopg
from assay_cli.stack.databases import Database

FILL = """
INSERT INTO attribute
SELECT 'ten_' || n % 2, 'cat_shop', 1, 'item_' || n || '/name', 'item', 'item_' || n, 'name', '', '{}', 'rule', '[]',
       NULL, md5(n::text), 1, n, 'dec_1', now()
FROM generate_series(1, 20000) n
"""


def _plan(conn: psycopg.Connection[tuple[str]], query: str) -> str:
    return "\n".join(line for (line,) in conn.execute(f"EXPLAIN {query}".encode()))


def test_a_search_uses_the_trigrams(product_db: Database) -> None:
    with psycopg.connect(product_db.admin_dsn, autocommit=True) as administrator:
        administrator.execute(FILL)
        administrator.execute("VACUUM ANALYZE attribute")
        row = administrator.execute("SELECT prosrc FROM pg_proc WHERE proname = 'attribute_owners_matching'").fetchone()
    assert row is not None
    body = str(row[0])
    for name, value in (("wanted_catalog", "'cat_shop'"), ("wanted_generation", "1"), ("patterns", "'{%c4ca42%}'")):
        body = body.replace(name, value)
    with psycopg.connect(product_db.dsn("assay_migrator")) as owner:
        owner.execute("SELECT set_config('assay.tenant_id', 'ten_1', false)")
        assert "attribute_search" in _plan(owner, body)


def test_an_item_is_read_by_its_keys(product_db: Database) -> None:
    with psycopg.connect(product_db.admin_dsn, autocommit=True) as administrator:
        administrator.execute(FILL)
        administrator.execute("VACUUM ANALYZE attribute")
    with psycopg.connect(product_db.dsn("assay_product_api")) as conn:
        conn.execute("SELECT set_config('assay.tenant_id', 'ten_1', false)")
        query = (
            "SELECT * FROM attribute WHERE catalog_id = 'cat_shop' AND generation = 1 AND owner_id = ANY ('{item_1}')"
        )
        assert "attribute_value_once" in _plan(conn, query)
