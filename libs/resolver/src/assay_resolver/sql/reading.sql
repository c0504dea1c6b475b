-- name: readings_of_capture
-- What normalize read in one capture and attempt group.
SELECT reading_id FROM reading
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND capture_id = %(capture_id)s
  AND attempt_group = %(attempt_group)s
ORDER BY node;

-- name: find_readings
-- Readings with the capture and receipt they come from.
SELECT r.reading_id, r.capture_id, c.source_id, r.key, r.group_key, c.url, r.digest, c.observed_at, c.received_at,
       t.receipt_id, r.attempt_group, r.profile
FROM reading r
JOIN capture c ON (c.tenant_id, c.capture_id) = (r.tenant_id, r.capture_id)
JOIN receipt t ON (t.tenant_id, t.capture_id) = (r.tenant_id, r.capture_id)
WHERE r.tenant_id = %(tenant_id)s AND r.catalog_id = %(catalog_id)s AND r.reading_id = ANY(%(readings)s);

-- name: find_facts
-- Their facts that have a value, in the order in which they speak.
SELECT f.reading_id, f.n, f.name, f.line, f.value, f.sha256, e.media_type, f.place_syntax, f.place, f.raw, f.adapter
FROM fact f
JOIN evidence e ON (e.tenant_id, e.sha256) = (f.tenant_id, f.sha256)
WHERE f.tenant_id = %(tenant_id)s AND f.catalog_id = %(catalog_id)s AND f.reading_id = ANY(%(readings)s)
  AND f.value IS NOT NULL
ORDER BY f.reading_id, f.n;

-- name: look_of_capture
-- Whose look a capture was, and its place in the order of looks.
SELECT c.source_id, c.observed_at, c.received_at, t.receipt_id FROM capture c
JOIN receipt t ON (t.tenant_id, t.capture_id) = (c.tenant_id, c.capture_id)
WHERE c.tenant_id = %(tenant_id)s AND c.catalog_id = %(catalog_id)s AND c.capture_id = %(capture_id)s;
