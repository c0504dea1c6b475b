-- name: promise_evidence
-- Account for bytes before they are put; rows in the order of their hashes, so that nobody waits in a circle.
INSERT INTO evidence (tenant_id, sha256, bytes, media_type)
SELECT %(tenant_id)s, promised.sha256, promised.bytes, promised.media_type
FROM unnest(%(sha256)s::text[], %(bytes)s::bigint[], %(media_type)s::text[]) AS promised (sha256, bytes, media_type)
ORDER BY promised.sha256 COLLATE "C"
ON CONFLICT (tenant_id, sha256) DO NOTHING;

-- name: mark_stored
-- The bytes are in the bucket; rows locked in the order of their hashes.
WITH held AS (
    SELECT sha256 FROM evidence
    WHERE tenant_id = %(tenant_id)s AND sha256 = ANY(%(sha256)s) AND state = 'pending'
    ORDER BY sha256 COLLATE "C"
    FOR NO KEY UPDATE
)
UPDATE evidence SET state = 'stored'
FROM held
WHERE evidence.tenant_id = %(tenant_id)s AND evidence.sha256 = held.sha256;

-- name: find_stored
-- The tenant's own stored bytes.
SELECT bytes FROM evidence WHERE tenant_id = %(tenant_id)s AND sha256 = %(sha256)s AND state = 'stored';
