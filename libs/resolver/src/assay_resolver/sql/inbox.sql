-- name: insert_done
-- The result of this job is part of this transaction; no second row can ever follow.
INSERT INTO inbox (tenant_id, job_id) VALUES (%(tenant_id)s, %(job_id)s)
ON CONFLICT (tenant_id, job_id) DO NOTHING
RETURNING job_id;
