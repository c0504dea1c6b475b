"""ARCHITECTURE.md speaks of states, tests, rules and processes that there are."""

import re

import psycopg
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


def test_every_test_and_rule_that_holds_an_invariant_exists() -> None:
    code = "\n".join(read(path) for path in files() if path.suffix in (".py", ".sql"))
    rows = table(PAGE, "Invariants")
    assert [row[""] for row in rows] == [f"I{number}" for number in range(1, 16)]
    for row in rows:
        names = quoted(row["held by"])
        assert names or "Comes with" in row["held by"]
        for name in names:
            test, rule = rf"def {name}\(", rf'(-- name: |"){name}\b'
            assert re.search(test if name.startswith("test_") else rule, code), f"{row['']}: {name}"


def test_every_rule_of_the_checker_is_named_at_its_invariant() -> None:
    check = [
        path for path in files() if "check" in path.as_posix() and path.parts[0] == "cli" and "tests" not in path.parts
    ]
    rules = {
        rule for path in check if path.suffix in (".py", ".sql") for rule in re.findall(r"\bi\d+_[a-z_]+", read(path))
    }
    named = {row[""]: set(quoted(row["held by"])) for row in table(PAGE, "Invariants")}
    assert sorted(rule for rule in rules if rule not in named[rule.partition("_")[0].upper()]) == []


def test_every_process_and_every_named_file_exists() -> None:
    processes = [name for row in table(PAGE, "What runs") for name in quoted(row["process"])]
    assert processes == list(PROCESSES)
    names = {path.name for path in files()} | {part for path in files() for part in path.parts}
    for row in table(PAGE, "The path of a record"):
        assert [name for name in quoted(row["in"]) if name.rstrip("/") not in names] == []
