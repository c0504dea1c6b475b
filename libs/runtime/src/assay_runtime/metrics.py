"""The series that every process has, whatever it does; services declare theirs with prometheus_client directly.

Names begin with `assay_`, units are base units, counters end in `_total`, and no label names a tenant or a job.
"""

from prometheus_client import Counter, Gauge, Histogram

PROCESS_READY = Gauge("assay_process_ready", "1 while the process takes work, else 0.")
PROCESS_HALTED = Gauge("assay_process_halted", "1 after the process stopped on purpose and waits for a person.")
PROCESS_PROGRESS = Gauge("assay_process_last_progress_seconds", "Unix time of the last turn of the process's loop.")
LOG_FIELDS_DROPPED = Counter("assay_log_fields_dropped_total", "Log fields left out because no list allows them.")

HTTP_REQUESTS = Counter(
    "assay_http_requests_total", "Answered requests by route template.", ["method", "route", "status_class"]
)
HTTP_SECONDS = Histogram(
    "assay_http_request_duration_seconds",
    "Time from a request's head to its answer's last byte.",
    ["method", "route"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)
