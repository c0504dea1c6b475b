"""Named statements: what a file must look like, and what a reader of it gets."""

import pytest
from assay_runtime.errors import InvalidSqlFile
from assay_runtime.sql import Statements, parse

GOOD = """-- name: find_item
-- One item by id.
SELECT 1;

-- name: insert_item
-- A new item.
INSERT INTO item
VALUES (%(id)s);
"""


def test_a_file_holds_statements_by_name() -> None:
    statements = Statements(parse(GOOD, "item.sql"))
    assert list(statements) == ["find_item", "insert_item"]
    assert statements["insert_item"] == "-- A new item.\nINSERT INTO item\nVALUES (%(id)s);"


def test_an_unknown_statement_names_the_known_ones() -> None:
    with pytest.raises(KeyError, match="find_item, insert_item"):
        Statements(parse(GOOD, "item.sql"))["delete_item"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("SELECT 1;\n" + GOOD, "must begin"),
        ("", "must begin"),
        ("-- name: find_item\nSELECT 1;\n", "one comment line"),
        ("-- name: find_item\n-- One item.\n", "one comment line"),
        ("-- name: find\n-- One item.\nSELECT 1;\n", "verb_noun"),
        (GOOD + GOOD, "appears twice"),
    ],
)
def test_a_malformed_file_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(InvalidSqlFile, match=complaint):
        parse(text, "item.sql")
