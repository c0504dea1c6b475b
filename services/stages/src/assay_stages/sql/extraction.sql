-- name: insert_extraction
-- What one adapter found in one artifact.
INSERT INTO extraction (tenant_id, catalog_id, capture_id, attempt_group, sha256, adapter, outcome, found)
VALUES (%(tenant_id)s, %(catalog_id)s, %(capture_id)s, %(attempt_group)s, %(sha256)s, %(adapter)s, %(outcome)s, %(found)s);

-- name: list_extractions
-- All that was found in one capture by one attempt group.
SELECT sha256, adapter, outcome, found
FROM extraction
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND capture_id = %(capture_id)s
  AND attempt_group = %(attempt_group)s
ORDER BY adapter, sha256;

-- name: list_outcomes
-- How the adapters of one attempt group ended, without what they found.
SELECT outcome
FROM extraction
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND capture_id = %(capture_id)s
  AND attempt_group = %(attempt_group)s;
