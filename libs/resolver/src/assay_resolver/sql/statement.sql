-- name: ensure_people
-- The reserved source of what people state, trusted most.
INSERT INTO source (tenant_id, source_id, trust) VALUES (%(tenant_id)s, %(source_id)s, 100) ON CONFLICT DO NOTHING;

-- name: insert_evidence
-- The statement's bytes, which were stored before this transaction.
INSERT INTO evidence (tenant_id, sha256, bytes, media_type, state)
VALUES (%(tenant_id)s, %(sha256)s, %(bytes)s, %(media_type)s, 'stored') ON CONFLICT DO NOTHING;

-- name: insert_capture
-- A statement is captured when it is made.
INSERT INTO capture (tenant_id, capture_id, catalog_id, source_id, key, fetch_status, observed_at, received_at)
VALUES (%(tenant_id)s, %(capture_id)s, %(catalog_id)s, %(source_id)s, %(key)s, 200, %(at)s, %(at)s);

-- name: insert_artifact
-- The capture's one artifact.
INSERT INTO artifact (tenant_id, artifact_id, capture_id, ordinal, sha256, media_type, bytes)
VALUES (%(tenant_id)s, %(artifact_id)s, %(capture_id)s, 0, %(sha256)s, %(media_type)s, %(bytes)s);

-- name: insert_receipt
-- Its receipt, bound to the request.
INSERT INTO receipt (tenant_id, receipt_id, capture_id, idempotency_key, body_digest, received_at)
VALUES (%(tenant_id)s, %(receipt_id)s, %(capture_id)s, %(idempotency_key)s, %(body_digest)s, %(at)s);

-- name: insert_extraction
-- What the statement says, by the adapter that reads statements.
INSERT INTO extraction (tenant_id, catalog_id, capture_id, attempt_group, sha256, adapter, outcome, found)
VALUES (%(tenant_id)s, %(catalog_id)s, %(capture_id)s, 1, %(sha256)s, %(adapter)s, 'ok', %(found)s);

-- name: insert_reading
-- The one thing that it speaks of.
INSERT INTO reading (tenant_id, catalog_id, reading_id, capture_id, attempt_group, node, key, profile, digest)
VALUES (%(tenant_id)s, %(catalog_id)s, %(reading_id)s, %(capture_id)s, 1, '', %(key)s, %(profile)s, %(digest)s);

-- name: insert_fact
-- The stated value.
INSERT INTO fact (tenant_id, catalog_id, reading_id, n, capture_id, attempt_group, sha256, adapter, name, raw, value,
                  place_syntax, place)
VALUES (%(tenant_id)s, %(catalog_id)s, %(reading_id)s, 0, %(capture_id)s, 1, %(sha256)s, %(adapter)s, %(name)s,
        %(raw)s, %(value)s, 'json_pointer', '/value');
