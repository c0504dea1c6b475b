-- name: claim_unsent
-- Due jobs that nobody has sent: retries, and those whose sender failed after its commit.
UPDATE job SET sweep_until = clock_timestamp() + make_interval(secs => %(claim_seconds)s)
FROM (
    SELECT tenant_id, job_id FROM job
    WHERE state = 'open' AND sent_offset IS NULL
      AND due_at <= clock_timestamp() - make_interval(secs => %(grace_seconds)s)
      AND (sweep_until IS NULL OR sweep_until <= clock_timestamp())
    ORDER BY due_at LIMIT %(rows)s
    FOR NO KEY UPDATE SKIP LOCKED
) AS due
WHERE (job.tenant_id, job.job_id) = (due.tenant_id, due.job_id)
RETURNING 'unsent', job.tenant_id, job.job_id, job.attempt, job.envelope_id, job.envelope_ts, job.payload;

-- name: find_reach
-- The highest offset that open jobs of each stage and partition are recorded at.
SELECT wanted.stage, wanted.partition, job.sent_offset
FROM unnest(%(stages)b::text[], %(partitions)b::integer[]) AS wanted (stage, partition),
LATERAL (
    SELECT sent_offset FROM job
    WHERE state = 'open' AND sent_offset IS NOT NULL
      AND stage = wanted.stage AND sent_topic_id = %(topic_id)s AND sent_partition = wanted.partition
    ORDER BY sent_offset DESC LIMIT 1
) AS job;

-- name: claim_past
-- Open jobs whose message lies in one of these ranges of offsets, which nobody will read (again).
UPDATE job SET sweep_until = clock_timestamp() + make_interval(secs => %(claim_seconds)s)
FROM (
    SELECT sent.tenant_id, sent.job_id, past.reason
    FROM unnest(%(reasons)b::text[], %(stages)b::text[], %(partitions)b::integer[],
                %(lows)b::bigint[], %(highs)b::bigint[]) AS past (reason, stage, partition, low, high),
    LATERAL (
        SELECT tenant_id, job_id FROM job
        WHERE state = 'open' AND sent_offset IS NOT NULL
          AND stage = past.stage AND sent_topic_id = %(topic_id)s AND sent_partition = past.partition
          AND sent_offset >= past.low AND sent_offset < past.high
          AND due_at <= clock_timestamp() - make_interval(secs => %(grace_seconds)s)
          AND (sweep_until IS NULL OR sweep_until <= clock_timestamp())
        ORDER BY sent_offset LIMIT %(rows)s
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS sent
    LIMIT %(rows)s
) AS due
WHERE (job.tenant_id, job.job_id) = (due.tenant_id, due.job_id)
RETURNING due.reason, job.tenant_id, job.job_id, job.attempt, job.envelope_id, job.envelope_ts, job.payload;

-- name: claim_foreign
-- Open jobs that were sent to a topic which is gone: one with another id bears its name now.
UPDATE job SET sweep_until = clock_timestamp() + make_interval(secs => %(claim_seconds)s)
FROM (
    SELECT sent.tenant_id, sent.job_id
    FROM unnest(%(stages)b::text[]) AS known (stage),
    LATERAL (
        SELECT tenant_id, job_id FROM job
        WHERE state = 'open' AND sent_offset IS NOT NULL AND stage = known.stage
          AND (sent_topic_id < %(topic_id)s OR sent_topic_id > %(topic_id)s)
          AND due_at <= clock_timestamp() - make_interval(secs => %(grace_seconds)s)
          AND (sweep_until IS NULL OR sweep_until <= clock_timestamp())
        LIMIT %(rows)s
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS sent
    LIMIT %(rows)s
) AS due
WHERE (job.tenant_id, job.job_id) = (due.tenant_id, due.job_id)
RETURNING 'topic_lost', job.tenant_id, job.job_id, job.attempt, job.envelope_id, job.envelope_ts, job.payload;

-- name: record_sends
-- Where the broker keeps these messages; a job that went on meanwhile keeps what it has.
UPDATE job SET sent_topic_id = %(topic_id)s, sent_partition = sent.partition, sent_offset = sent.log_offset,
               sweep_until = NULL
FROM unnest(%(tenants)b::text[], %(jobs)b::text[], %(attempts)b::integer[], %(partitions)b::integer[],
            %(offsets)b::bigint[]) AS sent (tenant_id, job_id, attempt, partition, log_offset)
WHERE job.tenant_id = sent.tenant_id AND job.job_id = sent.job_id
  AND job.attempt = sent.attempt AND job.state = 'open';

-- name: give_back
-- What could not be sent now is anybody's again.
UPDATE job SET sweep_until = NULL
FROM unnest(%(tenants)b::text[], %(jobs)b::text[]) AS mine (tenant_id, job_id)
WHERE job.tenant_id = mine.tenant_id AND job.job_id = mine.job_id AND job.state = 'open';
