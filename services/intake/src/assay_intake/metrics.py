"""Every series of intake, beside those that each process has."""

from prometheus_client import Counter, Gauge

CAPTURES = Counter("assay_intake_captures_total", "Captures by how their request ended.", ["outcome"])
"""`accepted`, `repeated` (the first receipt was given again), or the code of the refusal."""
ARTIFACT_BYTES = Counter("assay_intake_artifact_bytes_total", "Bytes of artifacts of accepted captures.")
SPOOL_BYTES = Gauge("assay_intake_spool_bytes", "Bytes of uploads under way that lie on this process's disk.")
ENQUEUED = Counter("assay_intake_enqueued_total", "First jobs handed to Kafka after their commit.", ["result"])
"""`sent`, or `left` to the sweeper."""
ENQUEUE_BACKLOG = Gauge("assay_intake_enqueue_backlog", "First jobs whose acknowledgement is still awaited.")
