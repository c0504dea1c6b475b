"""docs/ownership.md and two freshly migrated databases say the same about tables, rights, policies and roles."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import psycopg
import pytest
from assay_cli.stack.databases import MIGRATOR, Database
from assay_cli.stack.processes import PROCESSES
from psycopg.rows import TupleRow

from .documents import ROOT, quoted, read, table

PAGE = read("docs/ownership.md")
FENCE = {
    "the tenant of the transaction": "(tenant_id = current_setting('assay.tenant_id'::text, true))",
    "every tenant": "true",
}
OWNERS: dict[str, str] = dict.fromkeys(("outbox", "outbox_*", "outbox_id_seq"), "assay_relay_prune")
"""Of objects that are not the migrator's: whoever detaches a partition must own it."""
COMMANDS = {"all": "*", "select": "r"}

RELATIONS = """
SELECT CASE WHEN c.relispartition THEN 'outbox_*' ELSE c.relname END,
       bool_and(c.relrowsecurity AND c.relforcerowsecurity), min(pg_get_userbyid(c.relowner))
FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
GROUP BY 1
"""
RIGHTS = """
WITH granted AS (
    SELECT CASE WHEN relispartition THEN 'outbox_*' ELSE relname END AS name, '' AS part,
        relowner AS owner, relacl AS acl
    FROM pg_class WHERE relnamespace = 'public'::regnamespace
    UNION ALL
    SELECT c.relname, a.attname, c.relowner, a.attacl FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'public'::regnamespace AND a.attacl IS NOT NULL
    UNION ALL
    SELECT p.proname, '', p.proowner, COALESCE(p.proacl, acldefault('f', p.proowner)) FROM pg_proc p
    WHERE p.pronamespace = 'public'::regnamespace AND p.prorettype <> 'trigger'::regtype
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
)
SELECT DISTINCT COALESCE(r.rolname, 'everyone'), lower(x.privilege_type), g.name, g.part
FROM granted g, aclexplode(g.acl) x LEFT JOIN pg_roles r ON r.oid = x.grantee
WHERE x.grantee <> g.owner
"""
POLICIES = """
SELECT p.polname, p.polrelid::regclass::text, p.polcmd, pg_get_userbyid(r.role), pg_get_expr(p.polqual, p.polrelid),
       COALESCE(pg_get_expr(p.polwithcheck, p.polrelid), pg_get_expr(p.polqual, p.polrelid))
FROM pg_policy p, unnest(p.polroles) AS r (role)
"""
LIMITS = """
SELECT r.rolname, COALESCE((
    SELECT string_agg(split_part(one, '=', 2), ', ' ORDER BY array_position(
        ARRAY['transaction_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout'], split_part(one, '=', 1)))
    FROM pg_db_role_setting s, unnest(s.setconfig) AS one WHERE s.setrole = r.oid), 'none')
FROM pg_roles r WHERE r.rolname LIKE 'assay\\_%'
"""


class Right(NamedTuple):
    """One right of one role on one object, or on one column of it."""

    role: str
    right: str
    name: str
    column: str


@pytest.fixture(params=["resolver", "product"])
def kind(request: pytest.FixtureRequest) -> str:
    """Which of the two databases."""
    return str(request.param)


@pytest.fixture
def connection(kind: str, request: pytest.FixtureRequest) -> Iterator[psycopg.Connection[TupleRow]]:
    """A migrated database of that kind, past all row level security."""
    database: Database = request.getfixturevalue(f"{kind}_db")
    with psycopg.connect(database.admin_dsn) as opened:
        yield opened


def test_every_table_is_written_down_with_its_owner_and_its_fence(
    kind: str, connection: psycopg.Connection[TupleRow]
) -> None:
    rows = table(PAGE, f"Tables of {kind}")
    written = {(name := quoted(row["table"])[0], row["fenced"] == "yes", OWNERS.get(name, MIGRATOR)) for row in rows}
    assert set(connection.execute(RELATIONS)) == written
    assert [row for row in rows if not (ROOT / quoted(row["owner"])[0]).is_dir()] == []


def test_every_right_is_written_down(kind: str, connection: psycopg.Connection[TupleRow]) -> None:
    assert {Right(*row) for row in connection.execute(RIGHTS)} == set(_written_rights(kind))


def test_no_role_outside_the_page_has_a_policy(kind: str, connection: psycopg.Connection[TupleRow]) -> None:
    assert set(connection.execute(POLICIES)) == set(_written_policies(kind))


def test_every_role_is_written_down_with_its_limits(resolver_db: Database, product_db: Database) -> None:
    with psycopg.connect(resolver_db.admin_dsn) as resolver, psycopg.connect(product_db.admin_dsn) as product:
        found = dict(resolver.execute(LIMITS).fetchall())
        assert dict(product.execute(LIMITS).fetchall()) == found
    assert {quoted(row["role"])[0]: row["limits"] for row in table(PAGE, "Roles")} == found


def test_no_role_sees_past_the_fences(resolver_db: Database) -> None:
    with psycopg.connect(resolver_db.admin_dsn) as opened:
        statement = "SELECT rolname FROM pg_roles WHERE rolname LIKE 'assay\\_%' AND (rolsuper OR rolbypassrls)"
        assert opened.execute(statement).fetchall() == []


def test_each_process_uses_the_role_that_the_page_names() -> None:
    rows = [row for row in table(PAGE, "Roles") if row["used by"].startswith("process")]
    written = {name: quoted(row["role"])[0] for row in rows for name in quoted(row["used by"])}
    assert written == {process.name: process.role for process in PROCESSES.values()}


def _written_rights(kind: str) -> Iterator[Right]:
    tables = [quoted(row["table"])[0] for row in table(PAGE, f"Tables of {kind}")]
    every = [name for name in tables if "*" not in name and not name.endswith("_seq")]
    for row in table(PAGE, f"Rights in {kind}"):
        names = quoted(row["on"]) + (every if row["on"].startswith("every table") else [])
        for role in quoted(row["role"]) or [row["role"]]:
            for right, columns in re.findall(r"(\w+)(?: \(([^)]*)\))?", row["right"]):
                for column in quoted(columns) or [""]:
                    yield from (Right(role, right, name, column) for name in names)


def _written_policies(kind: str) -> Iterator[tuple[str, str, str, str, str, str]]:
    fenced = [quoted(row["table"])[0] for row in table(PAGE, f"Tables of {kind}") if row["fenced"] == "yes"]
    for row in table(PAGE, f"Policies in {kind}"):
        seen = FENCE[row["sees"]]
        for role in quoted(row["role"]):
            for name in fenced if row["on"] == "every fenced table" else quoted(row["on"]):
                yield quoted(row["policy"])[0], name, COMMANDS[row["for"]], role, seen, seen
