"""Log lines: JSON with listed fields only, and no secret in any of them."""

import json
import logging
from collections.abc import Iterator

import pytest
import structlog
from assay_runtime import logs
from assay_runtime.errors import UnlistedField
from pydantic import SecretStr


@pytest.fixture
def restored() -> Iterator[None]:
    """Undo what `setup` does to the process."""
    root = logging.getLogger()
    handlers, level, before = root.handlers[:], root.level, structlog.get_config()
    yield
    structlog.configure(**before)
    root.handlers[:] = handlers
    root.setLevel(level)


def last_line(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    return json.loads(capsys.readouterr().err.splitlines()[-1])


def test_an_unlisted_field_fails_a_test() -> None:
    with pytest.raises(UnlistedField, match="password"):
        logs.get_logger().info("key.minted", password="x")


@pytest.mark.usefixtures("restored")
def test_a_process_drops_and_counts_an_unlisted_field(capsys: pytest.CaptureFixture[str]) -> None:
    logs.setup("relay events")
    logs.get_logger().info("lease.expired", bucket=3, password="hunter2")
    line = last_line(capsys)
    assert (line["event"], line["process"], line["level"]) == ("lease.expired", "relay events", "info")
    assert (line["bucket"], line["dropped"]) == (3, 1)
    assert "hunter2" not in str(line)


@pytest.mark.usefixtures("restored")
def test_a_secret_in_a_listed_field_is_starred(capsys: pytest.CaptureFixture[str]) -> None:
    logs.setup("intake api")
    logs.get_logger().info("key.refused", why=SecretStr("hunter2"))
    assert last_line(capsys)["why"] == "***"


@pytest.mark.usefixtures("restored")
def test_an_exception_becomes_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    logs.setup("intake api")
    try:
        raise ValueError("broken")
    except ValueError as error:
        logs.get_logger().error("http.defect", exc_info=error)
    assert "ValueError: broken" in str(last_line(capsys)["exception"])


@pytest.mark.usefixtures("restored")
def test_warnings_of_libraries_are_lines_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    logs.setup("intake api")
    logging.getLogger("psycopg.pool").warning("error connecting in %r", "pool-1")
    logging.getLogger("psycopg.pool").info("not worth a line")
    line = last_line(capsys)
    assert (line["event"], line["logger"], line["level"]) == ("library.log", "psycopg.pool", "warning")
    assert line["message"] == "error connecting in 'pool-1'"


@pytest.mark.usefixtures("restored")
def test_the_level_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    logs.setup("intake api", "warning")
    logs.get_logger().info("lease.renewed")
    assert capsys.readouterr().err == ""
