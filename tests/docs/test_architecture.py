"""ARCHITECTURE.md speaks of states, tests, rules and processes that there are."""

import re

import psycopg
from assay_cli.check.violations import all_rules, invariant_of
from assay_cli.stack.databases import Database
from assay_cli.stack.processes import PROCESSES

from .documents import files, quoted, read, section, table

PAGE = read("ARCHITECTURE.md")
DIAGRAMS = ("Resolution job", "Review case", "Listing", "Item", "Parked event")
CONSTRAINTS = """
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = 'public'::regnamespace AND contype = 'c'
  AND (conname LIKE '%\\_state\\_known' OR conname IN ('parked_reason_known', 'inbox_outcome_known'))
"""
NAMES = """
SELECT conname FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'i'
"""


def _words(database: Database) -> dict[str, set[str]]:
    """The words that each constraint allows, by the constraint's name."""
    with psycopg.connect(database.admin_dsn) as connection:
        rows = connection.execute(CONSTRAINTS).fetchall()
    return {str(name): set(re.findall(r"'(\w+)'::text", str(definition))) for name, definition in rows}


def _claims() -> list[tuple[set[str], list[str], list[str]]]:
    """Each picture's and each row's words, with the constraints and the databases that they are said to be from."""
    claims = [_claim_of_diagram(section(PAGE, heading)) for heading in DIAGRAMS]
    claims += [(set(quoted(row["states"])), *_origin(row["words of"])) for row in table(PAGE, "Others")]
    return claims


def _claim_of_diagram(text: str) -> tuple[set[str], list[str], list[str]]:
    arrows = re.findall(r"^ +(\S+) --> (\w+): \S", text, re.MULTILINE)
    words = {word for arrow in arrows for word in arrow if word != "[*]"}
    (origin,) = re.findall(r"^Words of (.*)\.$", text, re.MULTILINE)
    return words, *_origin(origin)


def _origin(text: str) -> tuple[list[str], list[str]]:
    return quoted(text), re.findall(r"\b(resolver|product)\b", text.rpartition("`")[2])


def test_the_words_of_every_picture_are_those_of_the_databases(resolver_db: Database, product_db: Database) -> None:
    found = {"resolver": _words(resolver_db), "product": _words(product_db)}
    for words, constraints, databases in _claims():
        for database in databases:
            allowed = set[str]().union(*(found[database][constraint] for constraint in constraints))
            assert words == allowed, f"{constraints} in {database}"


def test_every_state_that_the_databases_know_is_in_a_picture(resolver_db: Database, product_db: Database) -> None:
    shown = {
        (database, one) for _, constraints, databases in _claims() for database in databases for one in constraints
    }
    known = {("resolver", name) for name in _words(resolver_db)} | {("product", name) for name in _words(product_db)}
    assert known == shown


def test_every_test_that_holds_an_invariant_exists() -> None:
    tests = "\n".join(read(path) for path in files() if path.suffix == ".py" and "tests" in path.parts)
    rows = table(PAGE, "Invariants")
    assert [row[""] for row in rows] == [f"I{number}" for number in range(1, 16)]
    for row in rows:
        names = quoted(row["tests"])
        assert names or "Comes with" in row["tests"]
        assert [name for name in names if f"def {name}(" not in tests] == []


def test_the_checker_asks_what_the_page_says_it_asks() -> None:
    asked = {invariant_of(rule) for _, rule in all_rules()} - {"MODEL"}
    assert {row[""] for row in table(PAGE, "Invariants") if row["checker"] == "yes"} == asked


def test_every_constraint_that_the_page_names_exists(resolver_db: Database) -> None:
    named = set(quoted(section(PAGE, "Invariants").strip().split("\n\n")[-1]))
    with psycopg.connect(resolver_db.admin_dsn) as connection:
        assert len(named) > 5 and named - {str(name) for (name,) in connection.execute(NAMES)} == set()


def test_every_process_and_every_named_file_exists() -> None:
    processes = [name for row in table(PAGE, "What runs") for name in quoted(row["process"])]
    assert processes == list(PROCESSES)
    names = {path.name for path in files()} | {part for path in files() for part in path.parts}
    for row in table(PAGE, "The path of a record"):
        assert [name for name in quoted(row["in"]) if name.rstrip("/") not in names] == []
