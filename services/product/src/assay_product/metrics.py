"""The series that the product's processes have of their own; none names a tenant."""

from prometheus_client import Counter, Gauge, Histogram

EVENTS = Counter(
    "assay_product_events_total",
    "Events by what became of them: applied, ignored (too late), repeated, parked, released.",
    ["outcome"],
)
REFUSED = Counter("assay_product_refused_total", "Records kept as dead letters, by reason.", ["reason"])
PASSED = Counter("assay_product_positions_passed_total", "Positions that contiguous progress has moved over.")
BATCH_SECONDS = Histogram(
    "assay_product_batch_seconds",
    "Time of one batch's transaction.",
    buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)
BATCH_EVENTS = Histogram(
    "assay_product_batch_events", "Records in one batch.", buckets=(1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000)
)
EVENT_AGE = Histogram(
    "assay_product_event_age_seconds",
    "Time from a decision to the commit that shows it.",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0, 3_600.0),
)
PROJECTION_AGE = Gauge(
    "assay_product_projection_age_seconds", "Age, when it was applied, of the oldest event in the last batch."
)
PARKED = Gauge("assay_product_parked", "Events parked in live generations.")
MISSING = Gauge("assay_product_positions_missing", "Positions below the furthest one of their stream that never came.")
HELD = Gauge("assay_product_streams_held", "Live generations whose progress something holds back.")
HALTED = Gauge("assay_product_streams_halted", "Live generations that wait for a person.")
RETRIES = Counter("assay_product_batch_retries_total", "Batches repeated, by cause.", ["cause"])
UNPUBLISHED = Gauge("assay_product_dead_letters_unpublished", "Dead letters seen waiting for their topic, 100 at most.")
REPORTS = Counter(
    "assay_product_progress_reports_total", "Reports of progress to the relay: taken or failed.", ["outcome"]
)
REPORTED_AT = Gauge("assay_product_progress_reported_seconds", "Unix time of the last report that was taken.")
COMMITS_FAILED = Counter(
    "assay_product_offset_commits_failed_total", "Commits of offsets to Kafka that failed; the database has its own."
)
