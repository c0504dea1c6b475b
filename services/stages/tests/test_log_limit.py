"""A library that repeats itself does not fill the log, and says something again later."""

import logging

from assay_stages.log_limit import LINES, SECONDS, LogLimit


def _record(name: str, line: int = 1) -> logging.LogRecord:
    return logging.LogRecord(name, logging.WARNING, "client.py", line, "no broker", None, None)


def test_repeats_of_a_library_are_limited_for_a_while() -> None:
    now = [0.0]
    limit = LogLimit(lambda: now[0])
    assert [limit.filter(_record("aiokafka.client")) for _ in range(LINES + 2)] == [True] * LINES + [False] * 2
    assert limit.filter(_record("aiokafka.client", line=2)), "another place in the code"
    now[0] = SECONDS
    assert limit.filter(_record("aiokafka.client"))


def test_our_own_lines_always_pass() -> None:
    limit = LogLimit()
    assert all(limit.filter(_record("assay_stages.delivery")) for _ in range(100))
