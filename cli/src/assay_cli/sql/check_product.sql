-- name: i7_progress_not_contiguous
-- A generation whose progress claims a position that it has not processed.
SELECT c.tenant_id || '/' || c.catalog_id || '#' || c.generation || ' progress ' || c.progress
FROM cursor c
LEFT JOIN inbox i ON (i.tenant_id, i.catalog_id, i.generation) = (c.tenant_id, c.catalog_id, c.generation)
    AND i.position <= c.progress
GROUP BY c.tenant_id, c.catalog_id, c.generation, c.progress
HAVING count(i.position) <> c.progress;

-- name: i9_not_one_live_generation
-- A catalog that readers cannot see, because none of its generations is live.
SELECT tenant_id || '/' || catalog_id FROM generation
GROUP BY tenant_id, catalog_id HAVING count(*) FILTER (WHERE state = 'live') <> 1;

-- name: i11_table_not_fenced
-- A table that names a tenant and does not force row level security.
SELECT c.relname FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND NOT (c.relrowsecurity AND c.relforcerowsecurity);

-- name: i14_value_without_evidence
-- A value in the catalog that shows no evidence.
SELECT tenant_id || '/' || catalog_id || ' ' || attribute_id FROM attribute
WHERE value IS NOT NULL AND json_array_length(evidence::json) = 0;

-- name: i15_stream_halted
-- A stream that takes no effect until a person has looked.
SELECT tenant_id || '/' || catalog_id || '#' || generation || ' ' || halted FROM cursor WHERE halted IS NOT NULL;
