"""Every series of the relay's processes."""

from prometheus_client import Counter, Gauge

PUBLISHED = Counter("assay_relay_events_published_total", "Events that Kafka acknowledged.")
PUBLISHED_BYTES = Counter("assay_relay_published_bytes_total", "Their values' bytes.")
MARKED = Counter("assay_relay_streams_marked_total", "Moves of a stream's published mark.")
REFUSED = Counter(
    "assay_relay_deliveries_refused_total", "Producers replaced after Kafka refused, by its code.", ["code"]
)
OUTBOX_DEPTH = Gauge("assay_relay_outbox_depth", "Events known and not yet marked published, in this relay's buckets.")
OUTBOX_AGE = Gauge("assay_relay_outbox_age_seconds", "Age of the oldest of them, in this relay's buckets.")
STREAMS_HELD = Gauge("assay_relay_streams_held", "Streams of this relay that cannot go on, by reason.", ["reason"])
GAPS = Gauge("assay_relay_scan_gaps", "Ranges of outbox ids that were given out and are not visible yet.")
LEASES = Gauge("assay_relay_leases_held", "Buckets that this relay holds.")
OWNERS = Gauge("assay_relay_owners", "Relays that share the buckets, as this one sees it.")
LEASES_LOST = Counter("assay_relay_leases_lost_total", "Buckets that another relay took over.")

JOBS_SENT = Counter("assay_relay_jobs_sent_total", "Jobs that the sweeper sent, by why it had to.", ["reason"])
JOBS_UNSENDABLE = Counter("assay_relay_jobs_unsendable_total", "Jobs that Kafka refuses for what they are.")
SWEEPS = Counter("assay_relay_sweeps_total", "Rounds of the sweeper.")
DEAD_LETTERS = Counter("assay_relay_dead_letters_published_total", "Dead letters copied to their topic.", ["topic"])
DEAD_LETTERS_UNSENDABLE = Counter(
    "assay_relay_dead_letters_unsendable_total", "Copies of a dead letter that Kafka refuses for the letter's own sake."
)
CLOCK = Gauge("assay_relay_history_clock", "The history clock, as Kafka last acknowledged its witness.")
OUTAGES = Counter("assay_relay_outages_total", "Turns that failed because a dependency was away.", ["dependency"])

PRUNED = Counter("assay_relay_events_pruned_total", "Events that left their streams for good.")
PRUNE_YIELDED = Counter(
    "assay_relay_prune_yielded_total", "Floors not raised because a consumer or lease came in between."
)
PARTITIONS_DROPPED = Counter("assay_relay_partitions_dropped_total", "Partitions of the outbox that left the disk.")
PARTITIONS_BUSY = Counter(
    "assay_relay_partitions_busy_total", "Detaches given up because somebody used the outbox for too long."
)
EVENTS_KEPT = Gauge("assay_relay_events_kept", "Events above the floors of all streams.")
ROWS_KEPT = Gauge("assay_relay_rows_kept", "Rows copied out of dropped partitions for laggards.")
LEASES_STANDING = Gauge("assay_relay_retention_leases", "Retention leases that hold.")
CONSUMERS = Gauge("assay_relay_consumers", "Live consumers that are registered.")
CONSUMER_SILENCE = Gauge(
    "assay_relay_consumer_silent_seconds", "Longest time since a live consumer's last report, or since it came."
)
CONSUMERS_SILENT = Gauge("assay_relay_consumers_silent", "Live consumers silent for longer than the setting allows.")
CONSUMERS_REMOVED = Counter("assay_relay_consumers_unregistered_total", "Consumers that an operator removed by name.")
PROGRESS_REFUSED = Counter(
    "assay_relay_progress_refused_total", "Reports of progress that were not taken, by reason.", ["reason"]
)
