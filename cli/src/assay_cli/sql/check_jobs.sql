-- name: list_jobs
-- Every job as the sweeper would send it, then what its row, its capture and the capture's receipt say.
SELECT j.tenant_id, j.job_id, j.envelope_id, j.envelope_ts, j.attempt, j.payload, j.stage, j.capture_id,
       j.attempt_group, j.history_epoch, c.catalog_id, c.source_id, t.receipt_id,
       (SELECT json_agg(json_build_array(a.artifact_id, a.sha256, a.bytes) ORDER BY a.artifact_id COLLATE "C")
        FROM artifact a WHERE (a.tenant_id, a.capture_id) = (j.tenant_id, j.capture_id))
FROM job j
LEFT JOIN capture c ON (c.tenant_id, c.capture_id) = (j.tenant_id, j.capture_id)
LEFT JOIN receipt t ON (t.tenant_id, t.capture_id) = (j.tenant_id, j.capture_id);

-- name: list_sent
-- Work that is still to be done, with the place of its last send in this topic.
SELECT stage, sent_partition, sent_offset, tenant_id || ' ' || job_id FROM job
WHERE state = 'open' AND sent_topic_id = %(topic_id)s;

-- name: find_jobs
-- The envelopes of some jobs.
SELECT j.tenant_id, j.job_id, j.envelope_id, j.history_epoch
FROM job j JOIN unnest(%(tenants)s::text[], %(jobs)s::text[]) AS w (tenant_id, job_id) USING (tenant_id, job_id);
