-- name: i7_progress_not_contiguous
-- A generation whose progress claims a position that it has not processed.
SELECT c.tenant_id || '/' || c.catalog_id || '#' || c.generation || ' progress ' || c.progress
FROM cursor c
LEFT JOIN inbox i ON (i.tenant_id, i.catalog_id, i.generation) = (c.tenant_id, c.catalog_id, c.generation)
    AND i.position <= c.progress
GROUP BY c.tenant_id, c.catalog_id, c.generation, c.progress
HAVING count(i.position) <> c.progress;

-- name: i7_counts_differ
-- A generation that counts other events than those it has, or says that it has come further or less far.
SELECT c.tenant_id || '/' || c.catalog_id || '#' || c.generation || ' processed ' || c.processed || ' of '
    || i.processed || ', highest ' || c.highest || ' of ' || GREATEST(i.highest, p.highest)
FROM cursor c
CROSS JOIN LATERAL (
    SELECT count(*) AS processed, COALESCE(max(position), 0) AS highest FROM inbox
    WHERE (tenant_id, catalog_id, generation) = (c.tenant_id, c.catalog_id, c.generation)) i
CROSS JOIN LATERAL (
    SELECT COALESCE(max(position), 0) AS highest FROM parked
    WHERE (tenant_id, catalog_id, generation) = (c.tenant_id, c.catalog_id, c.generation)) p
WHERE c.processed <> i.processed OR c.highest <> GREATEST(i.highest, p.highest);

-- name: i7_parked_and_processed
-- A position that waits although it has taken effect.
SELECT p.tenant_id || '/' || p.catalog_id || '#' || p.generation || ' ' || p.position
FROM parked p JOIN inbox i USING (tenant_id, catalog_id, generation, position);

-- name: i7_hole_with_nothing_parked
-- A generation that has processed more than 1..progress while nothing waits and nobody is asked to look.
SELECT c.tenant_id || '/' || c.catalog_id || '#' || c.generation || ' progress ' || c.progress || ', processed '
    || count(i.position)
FROM cursor c
JOIN inbox i ON (i.tenant_id, i.catalog_id, i.generation) = (c.tenant_id, c.catalog_id, c.generation)
WHERE c.halted IS NULL AND NOT EXISTS (
    SELECT FROM parked p WHERE (p.tenant_id, p.catalog_id, p.generation) = (c.tenant_id, c.catalog_id, c.generation))
GROUP BY c.tenant_id, c.catalog_id, c.generation, c.progress
HAVING count(i.position) > c.progress;

-- name: i9_not_one_live_generation
-- A catalog that readers cannot see, because none of its generations is live, or of which they see several.
SELECT tenant_id || '/' || catalog_id FROM generation
GROUP BY tenant_id, catalog_id HAVING count(*) FILTER (WHERE state = 'live') <> 1;

-- name: i9_row_of_no_generation
-- What a projection shows although no build of it is known.
SELECT DISTINCT owned.place || ' of ' || owned.tenant_id || '/' || owned.catalog_id || '#' || owned.generation
FROM (
    SELECT 'item' AS place, tenant_id, catalog_id, generation FROM item
    UNION ALL SELECT 'mapping', tenant_id, catalog_id, generation FROM mapping
    UNION ALL SELECT 'attribute', tenant_id, catalog_id, generation FROM attribute
    UNION ALL SELECT 'inbox', tenant_id, catalog_id, generation FROM inbox
    UNION ALL SELECT 'parked', tenant_id, catalog_id, generation FROM parked
    UNION ALL SELECT 'cursor', tenant_id, catalog_id, generation FROM cursor) AS owned
LEFT JOIN generation g USING (tenant_id, catalog_id, generation)
WHERE g.generation IS NULL;

-- name: i11_table_not_fenced
-- A table that names a tenant and does not force row level security.
SELECT c.relname FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND NOT (c.relrowsecurity AND c.relforcerowsecurity);

-- name: i11_policy_not_as_listed
-- A policy that lets somebody see more or less than the roles that are listed here.
WITH fenced AS (
    SELECT c.relname::text AS relname, pg_get_userbyid(c.relowner)::text AS owner FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition),
listed AS (
    SELECT relname, 'own_tenant' AS policy, ARRAY['assay_product_api'] AS roles, 'ALL' AS command,
        '(tenant_id = current_setting(''assay.tenant_id''::text, true))' AS condition FROM fenced
    UNION ALL
    SELECT relname, 'every_tenant', ARRAY['assay_apply', 'assay_checker', 'assay_operator'], 'ALL', 'true' FROM fenced
    UNION ALL
    SELECT relname, 'by_key_id', ARRAY[owner], 'SELECT', 'true' FROM fenced WHERE relname = 'api_key'
    UNION ALL
    SELECT relname, 'by_search', ARRAY[owner], 'SELECT', 'true' FROM fenced WHERE relname = 'attribute'),
standing AS (
    SELECT tablename::text AS relname, policyname::text AS policy,
        ARRAY(SELECT role::text FROM unnest(roles) AS role ORDER BY role::text COLLATE "C") AS roles, cmd AS command,
        qual AS condition, with_check, permissive
    FROM pg_policies WHERE schemaname = 'public')
SELECT relname || ' ' || policy FROM listed l FULL JOIN standing s USING (relname, policy)
WHERE (l.roles, l.command, l.condition) IS DISTINCT FROM (s.roles, s.command, s.condition)
   OR s.with_check IS NOT NULL OR s.permissive <> 'PERMISSIVE';

-- name: i11_evidence_of_another_tenant
-- A row that shows its reader the evidence of another tenant.
SELECT shown.tenant_id || '/' || shown.catalog_id || ' ' || shown.id
FROM (
    SELECT tenant_id, catalog_id, attribute_id AS id, evidence FROM attribute
    UNION ALL SELECT tenant_id, catalog_id, listing_id, evidence FROM mapping) AS shown
WHERE EXISTS (
    SELECT FROM json_array_elements(shown.evidence::json) AS one
    WHERE NOT starts_with(one ->> 'ref', 'r2://evidence-private/' || shown.tenant_id || '/'));

-- name: i14_value_without_evidence
-- A value in the catalog that shows no evidence.
SELECT tenant_id || '/' || catalog_id || ' ' || attribute_id FROM attribute
WHERE value IS NOT NULL AND json_array_length(evidence::json) = 0;

-- name: i14_mapping_without_evidence
-- A listing that is an item in the catalog and shows no evidence.
SELECT tenant_id || '/' || catalog_id || ' ' || listing_id FROM mapping
WHERE item_id IS NOT NULL AND json_array_length(evidence::json) = 0;

-- name: i15_stream_halted
-- A stream that takes no effect until a person has looked.
SELECT tenant_id || '/' || catalog_id || '#' || generation || ' ' || halted FROM cursor WHERE halted IS NOT NULL;

-- name: model_constraint_not_enforced
-- A rule of the model that the database no longer keeps.
SELECT kept.relname || ' ' || kept.name FROM (VALUES
    ('generation', 'generation_one_live'), ('generation', 'generation_pkey'), ('cursor', 'cursor_pkey'),
    ('cursor', 'cursor_progress_up_to_highest'), ('inbox', 'inbox_pkey'), ('inbox', 'inbox_position_once'),
    ('parked', 'parked_pkey'), ('parked', 'parked_event_once'), ('item', 'item_pkey'), ('mapping', 'mapping_pkey'),
    ('attribute', 'attribute_pkey'), ('attribute', 'attribute_value_once'), ('dead_letter', 'dead_letter_pkey'),
    ('kafka_offset', 'kafka_offset_pkey'), ('api_key', 'api_key_id_once')) AS kept (relname, name)
WHERE NOT EXISTS (
    SELECT FROM pg_constraint c
    WHERE c.conrelid = to_regclass('public.' || kept.relname) AND c.conname = kept.name
      AND c.convalidated AND c.conenforced)
  AND NOT EXISTS (
    SELECT FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
    WHERE x.indrelid = to_regclass('public.' || kept.relname) AND i.relname = kept.name
      AND x.indisunique AND x.indisvalid)
UNION ALL
SELECT t.tgrelid::regclass || ' ' || t.tgname FROM pg_trigger t WHERE t.tgenabled <> 'O';
