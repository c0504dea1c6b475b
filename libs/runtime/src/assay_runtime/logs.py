"""One JSON object per line on stderr: a dotted event name and fields from a closed list."""

import logging
import sys
from collections.abc import Mapping
from typing import cast

import structlog
from pydantic import SecretBytes, SecretStr
from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

from assay_runtime.errors import UnlistedField
from assay_runtime.metrics import LOG_FIELDS_DROPPED

FIELDS = frozenset(
    {
        # written by this module
        *("event", "level", "timestamp", "process", "logger", "message", "exception", "dropped"),
        # what happened
        *("action", "attempt", "cause", "code", "count", "deferred", "duplicate", "duration_ms", "error", "error_type"),
        *("from_state", "gap", "ignored", "kind", "lag", "outcome", "parked", "permanent", "pointer", "reason"),
        *("result", "rows", "seconds", "size_bytes", "state", "status", "to_state", "total", "verdict", "why"),
        # where
        *("bucket", "constraint", "database", "group", "host", "key_id", "method", "offset", "partition", "path"),
        *("port", "role", "route", "schema", "sqlstate", "statement", "table", "topic", "topic_id"),
        # which record, for operators, who may see every tenant
        *("adapter", "artifact_id", "attempt_group", "capture_id", "case_id", "catalog_id", "decision_id"),
        *("envelope_id", "event_id", "generation", "history_epoch", "item_id", "job_id", "listing_id", "message_id"),
        *("position", "profile", "published", "receipt_id", "revision", "sha256", "source_id", "stage", "stream"),
        *("tenant_id", "trace_id"),
        # which process
        *("epoch", "failpoint", "lease_epoch", "migration", "name", "owner", "pid", "signal", "version"),
    }
)
"""The fields a line may have. Add one here only if it can never hold a secret or a person's data."""


class FieldList:
    """Keeps the listed fields; an unlisted one is counted and dropped, or raises where nobody set logs up (tests)."""

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> Mapping[str, object]:
        unlisted = event.keys() - FIELDS
        if unlisted and self._strict:
            raise UnlistedField(", ".join(sorted(unlisted)))
        kept = {name: _plain(value) for name, value in event.items() if name not in unlisted}
        if unlisted:
            LOG_FIELDS_DROPPED.inc(len(unlisted))
            kept["dropped"] = len(unlisted)
        return kept


def _plain(value: object) -> object:
    if isinstance(value, SecretStr | SecretBytes):
        return "***"
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def setup(process: str, level: str = "info") -> None:
    """Name the process in every line and take over the log records of libraries from WARNING up."""
    structlog.contextvars.clear_contextvars()
    _configure(process, level, strict=False)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[_library_record, *_describe(process)],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                FieldList(strict=False),
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)


def get_logger() -> FilteringBoundLogger:
    """A logger for module level: `log = get_logger()`, then `log.info("lease.expired", bucket=3)`."""
    return cast("FilteringBoundLogger", structlog.get_logger())


def _library_record(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    record = cast("logging.LogRecord", event["_record"])
    return {**event, "event": "library.log", "logger": record.name, "message": event["event"]}


def _describe(process: str) -> list[Processor]:
    def name_process(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        event["process"] = process
        return event

    return [
        name_process,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]


def _configure(process: str, level: str, *, strict: bool) -> None:
    structlog.configure(
        processors=[*_describe(process), FieldList(strict=strict), structlog.processors.JSONRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )


_configure("unnamed", "debug", strict=True)
