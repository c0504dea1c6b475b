"""Every series of the stages; one process is one stage, so none has a stage label."""

from prometheus_client import Counter, Gauge, Histogram

MESSAGES_IN = Counter("assay_stages_messages_in_total", "Messages taken from Kafka, repeats included.")
MESSAGES_HANDLED = Counter(
    "assay_stages_messages_handled_total", "Messages acknowledged, by what became of them.", ["verdict"]
)
JOBS_OUT = Counter("assay_stages_jobs_out_total", "Jobs published for the next stage.")
JOBS_LEFT = Counter("assay_stages_jobs_left_to_sweeper_total", "Next jobs whose publication was left to the sweeper.")
RETRIES = Counter("assay_stages_retries_total", "Attempts that failed and were scheduled again, by reason.", ["reason"])
DEAD_LETTERS = Counter("assay_stages_dead_letters_total", "Messages given up on, by reason.", ["reason"])
HELD = Gauge("assay_stages_held_messages", "Messages that wait for a dependency that is away.")
IN_HAND = Gauge("assay_stages_in_hand_messages", "Messages taken and not yet acknowledged.")
LAG = Gauge("assay_stages_lag_messages", "Messages of this process's partitions that are not yet acknowledged.")
REBALANCES = Counter("assay_stages_rebalances_total", "Assignments of partitions to this process.")
JOB_SECONDS = Histogram(
    "assay_stages_job_duration_seconds",
    "From a job's start to its result's commit or its failure.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)
