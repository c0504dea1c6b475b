"""What the database refuses, whoever asks, and whom it shows nothing."""

import psycopg
import pytest
from assay_cli.stack.databases import Database
from assay_resolver.streams import Connection

from .world import World, product


@pytest.fixture
async def lamp(world: World, stages: Connection) -> World:
    await world.see(stages, product("Lamp One", gtin="04006381333931", price="9.5", currency="EUR"))
    return world


@pytest.mark.parametrize("table", ["extraction", "reading", "fact", "decision", "change", "support", "decision_part"])
def test_history_is_immutable(lamp: World, table: str) -> None:
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="immutable"):
        lamp.admin.execute(f"UPDATE {table} SET tenant_id = tenant_id".encode())
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="immutable"):
        lamp.admin.execute(f"DELETE FROM {table}".encode())


@pytest.mark.parametrize(
    ("statement", "constraint"),
    [
        (
            "INSERT INTO mapping (tenant_id, catalog_id, listing_id, home_item_id, item_id, via, revision)"
            " SELECT tenant_id, catalog_id, listing_id, home_item_id, item_id, via, revision FROM mapping",
            "mapping_pkey",
        ),
        (
            "INSERT INTO attribute (tenant_id, catalog_id, owner_type, owner_id, name, line, attribute_id, revision)"
            " SELECT tenant_id, catalog_id, owner_type, owner_id, name, line, attribute_id || 'x', revision"
            " FROM attribute",
            "attribute_pkey",
        ),
        ("UPDATE attribute SET revision = revision + 1", "attribute_change_fk"),
        ("UPDATE item SET revision = revision + 1", "item_change_fk"),
        ("UPDATE mapping SET revision = revision + 1", "mapping_change_fk"),
        ("UPDATE item SET state = 'merged', merged_into = item_id", "item_not_into_itself"),
        (
            "INSERT INTO change SELECT tenant_id, catalog_id, aggregate, id, 99, decision_id, gen_random_uuid(),"
            " history_epoch, 99, type, data FROM change WHERE type = 'mapping.set'",
            "change_has_support",
        ),
    ],
)
def test_a_state_that_must_not_be_is_refused(lamp: World, statement: str, constraint: str) -> None:
    with pytest.raises(psycopg.errors.IntegrityError) as refused:
        lamp.admin.execute(statement.encode())
    assert refused.value.diag.constraint_name == constraint


async def test_a_listing_is_mapped_to_a_root(lamp: World, stages: Connection) -> None:
    await lamp.see(stages, product("Steel Kettle", gtin="04006381333948"), url="https://shop.example/kettle")
    with pytest.raises(psycopg.errors.IntegrityError) as refused:
        lamp.admin.execute(
            "UPDATE item SET state = 'merged', merged_into = (SELECT max(item_id) FROM item)"
            " WHERE item_id = (SELECT min(item_id) FROM item)"
        )
    assert refused.value.diag.constraint_name == "mapping_to_root"


@pytest.mark.parametrize("role", ["assay_intake", "assay_resolver_api"])
def test_a_request_role_sees_its_tenant_and_no_other(lamp: World, resolver_db: Database, role: str) -> None:
    with psycopg.connect(resolver_db.dsn(role)) as connection:
        for tenant, seen in (("ten_two", 0), ("ten_one", 1)):
            connection.execute("SELECT set_config('assay.tenant_id', %s, true)", [tenant])
            assert connection.execute("SELECT count(*) FROM capture").fetchone() == (seen,)


def test_every_table_of_a_tenant_is_fenced(world: World) -> None:
    open_tables = world.rows(
        "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'"
        " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
        " AND NOT (c.relrowsecurity AND c.relforcerowsecurity)"
    )
    assert open_tables == []
