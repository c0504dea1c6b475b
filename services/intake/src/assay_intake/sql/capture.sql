-- name: find_capture
-- One capture of the tenant, with its receipt.
SELECT capture.capture_id, receipt.receipt_id, capture.catalog_id, capture.source_id, capture.url, capture.key,
       capture.fetch_status, capture.observed_at, capture.received_at, capture.attempt_group, capture.pin_adapter,
       capture.pin_profile, capture.trace_id
FROM capture JOIN receipt USING (tenant_id, capture_id)
WHERE capture.tenant_id = %(tenant_id)s AND capture.capture_id = %(capture_id)s;

-- name: list_artifacts
-- The artifacts of a capture, in the order in which they came.
SELECT artifact_id, sha256, media_type, bytes AS size_bytes
FROM artifact
WHERE tenant_id = %(tenant_id)s AND capture_id = %(capture_id)s
ORDER BY ordinal;

-- name: list_jobs
-- What became of a capture: its jobs, oldest first.
SELECT job_id, stage, attempt_group, state, outcome, cause, attempt, due_at, started_at, ended_at
FROM job
WHERE tenant_id = %(tenant_id)s AND capture_id = %(capture_id)s
ORDER BY attempt_group, created_at, job_id;
