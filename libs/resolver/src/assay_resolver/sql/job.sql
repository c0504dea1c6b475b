-- name: insert_job
-- A new unit of work, owed a send to Kafka from its due time on.
INSERT INTO job (tenant_id, job_id, capture_id, stage, attempt_group, history_epoch, envelope_id, envelope_ts, payload)
VALUES (%(tenant_id)s, %(job_id)s, %(capture_id)s, %(stage)s, %(attempt_group)s, %(history_epoch)s,
        %(envelope_id)s, %(envelope_ts)s, %(payload)s);

-- name: record_sent
-- Where the broker keeps this attempt's message; a job that went on meanwhile keeps what it has.
UPDATE job
SET sent_topic_id = %(topic_id)s, sent_partition = %(partition)s, sent_offset = %(offset)s
WHERE tenant_id = %(tenant_id)s AND job_id = %(job_id)s AND attempt = %(attempt)s AND state = 'open';

-- name: lock_capture_shared
-- Keep the capture's attempt group as it is until this transaction ends; first in the lock order.
SELECT catalog_id, source_id, url, key, fetch_status, attempt_group, pin_adapter, pin_profile
FROM capture
WHERE tenant_id = %(tenant_id)s AND capture_id = %(capture_id)s
FOR SHARE;

-- name: lock_job
-- The job as it stands now, with its epoch's state, held by this transaction; second in the lock order.
-- promised: whether a message's payload is the one that the row promises.
SELECT job.state, job.attempt, job.history_epoch, epoch.ordinal AS epoch_ordinal, epoch.state AS epoch_state,
       job.due_at <= clock_timestamp() AS due, job.started_alone, job.deaths, job.started_at,
       job.started_at IS NOT NULL AND (job.ended_at IS NULL OR job.ended_at < job.started_at) AS start_has_no_end,
       job.payload = %(payload)s AS promised
FROM job JOIN history_epoch AS epoch ON epoch.name = job.history_epoch
WHERE job.tenant_id = %(tenant_id)s AND job.job_id = %(job_id)s
FOR NO KEY UPDATE OF job;

-- name: start_job
-- Work begins: until an end is written this start counts as one that died.
UPDATE job
SET started_at = clock_timestamp(), started_alone = %(alone)s, deaths = %(deaths)s
WHERE tenant_id = %(tenant_id)s AND job_id = %(job_id)s AND state = 'open'
RETURNING started_at;

-- name: end_start
-- The start came to an end without a result and without blame: an outage, or a stop of the process.
UPDATE job
SET ended_at = clock_timestamp()
WHERE tenant_id = %(tenant_id)s AND job_id = %(job_id)s AND attempt = %(attempt)s AND state = 'open';

-- name: finish_job
-- The job took effect.
UPDATE job
SET state = 'done', outcome = %(outcome)s, cause = %(cause)s, ended_at = clock_timestamp()
WHERE tenant_id = %(tenant_id)s AND job_id = %(job_id)s AND state = 'open';

-- name: retry_job
-- Another attempt, later, under the same envelope; the sweeper owes it a send.
UPDATE job
SET attempt = attempt + 1, due_at = clock_timestamp() + make_interval(secs => %(delay_seconds)s), cause = %(cause)s,
    ended_at = clock_timestamp(), sent_topic_id = NULL, sent_partition = NULL, sent_offset = NULL
WHERE tenant_id = %(tenant_id)s AND job_id = %(job_id)s AND attempt = %(attempt)s AND state = 'open';

-- name: kill_job
-- Given up on; the dead letter beside it keeps the message.
UPDATE job
SET state = 'dead', cause = %(cause)s, deaths = %(deaths)s, ended_at = clock_timestamp()
WHERE tenant_id = %(tenant_id)s AND job_id = %(job_id)s AND state = 'open';

-- name: supersede_job
-- A later attempt group of the same capture does this work.
UPDATE job
SET state = 'superseded', ended_at = clock_timestamp()
WHERE tenant_id = %(tenant_id)s AND job_id = %(job_id)s AND state = 'open';
