-- name: accept_capture
-- Capture, artifacts and receipt at once, unless the idempotency key is already bound: then nothing.
WITH won AS (
    INSERT INTO receipt (tenant_id, receipt_id, capture_id, idempotency_key, body_digest, received_at)
    VALUES (%(tenant_id)s, %(receipt_id)s, %(capture_id)s, %(idempotency_key)s, %(body_digest)s, %(received_at)s)
    ON CONFLICT ON CONSTRAINT receipt_idempotency_once DO NOTHING
    RETURNING tenant_id, capture_id
), new_capture AS (
    INSERT INTO capture (tenant_id, capture_id, catalog_id, source_id, url, key, fetch_status, observed_at,
                         received_at, pin_adapter, pin_profile, trace_id)
    SELECT won.tenant_id, won.capture_id, %(catalog_id)s, %(source_id)s, %(url)s, %(key)s, %(fetch_status)s,
           %(observed_at)s, %(received_at)s, %(pin_adapter)s, %(pin_profile)s, %(trace_id)s
    FROM won
), new_artifact AS (
    INSERT INTO artifact (tenant_id, artifact_id, capture_id, ordinal, sha256, media_type, bytes)
    SELECT won.tenant_id, part.artifact_id, won.capture_id, part.ordinal, part.sha256, part.media_type, part.bytes
    FROM won, unnest(%(artifact_id)s::text[], %(sha256)s::text[], %(media_type)s::text[], %(bytes)s::bigint[])
        WITH ORDINALITY AS part (artifact_id, sha256, media_type, bytes, ordinal)
)
SELECT capture_id FROM won;

-- name: look_around
-- What a request rests on: whether its catalog and source exist, and whether its key is bound.
SELECT EXISTS (SELECT FROM catalog WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s) AS catalog_known,
       EXISTS (SELECT FROM source WHERE tenant_id = %(tenant_id)s AND source_id = %(source_id)s) AS source_known,
       EXISTS (SELECT FROM receipt
               WHERE tenant_id = %(tenant_id)s AND idempotency_key = %(idempotency_key)s) AS key_bound;

-- name: find_by_key
-- The receipt that an idempotency key is bound to.
SELECT receipt.receipt_id, receipt.capture_id, receipt.tenant_id, capture.catalog_id, capture.source_id,
       receipt.received_at, receipt.body_digest
FROM receipt JOIN capture USING (tenant_id, capture_id)
WHERE receipt.tenant_id = %(tenant_id)s AND receipt.idempotency_key = %(idempotency_key)s;

-- name: find_by_id
-- One receipt of the tenant.
SELECT receipt.receipt_id, receipt.capture_id, receipt.tenant_id, capture.catalog_id, capture.source_id,
       receipt.received_at, receipt.body_digest
FROM receipt JOIN capture USING (tenant_id, capture_id)
WHERE receipt.tenant_id = %(tenant_id)s AND receipt.receipt_id = %(receipt_id)s;
