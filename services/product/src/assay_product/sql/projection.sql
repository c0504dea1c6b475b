-- name: read_revisions
-- The revision at which each of these aggregates stands.
WITH wanted AS (
    SELECT * FROM unnest(
        %(tenant_id)b::text[], %(catalog_id)b::text[], %(generation)b::integer[], %(type)b::text[], %(id)b::text[]
    ) AS w (tenant_id, catalog_id, generation, type, id)
)
SELECT w.tenant_id, w.catalog_id, w.type, w.id, i.revision
FROM wanted w JOIN item i ON i.tenant_id = w.tenant_id AND i.catalog_id = w.catalog_id AND i.generation = w.generation
    AND i.item_id = w.id
WHERE w.type = 'item'
UNION ALL
SELECT w.tenant_id, w.catalog_id, w.type, w.id, m.revision
FROM wanted w JOIN mapping m ON m.tenant_id = w.tenant_id AND m.catalog_id = w.catalog_id AND m.generation = w.generation
    AND m.listing_id = w.id
WHERE w.type = 'mapping'
UNION ALL
SELECT w.tenant_id, w.catalog_id, w.type, w.id, a.revision
FROM wanted w JOIN attribute a ON a.tenant_id = w.tenant_id AND a.catalog_id = w.catalog_id AND a.generation = w.generation
    AND a.attribute_id = w.id
WHERE w.type = 'attribute';

-- name: upsert_items
-- Show these items as their last event states them; an older revision never overwrites a newer one.
INSERT INTO item (
    tenant_id, catalog_id, generation, item_id, state, merged_into, because, revision, position, decision_id, occurred_at
)
SELECT * FROM unnest(
    %(tenant_id)b::text[], %(catalog_id)b::text[], %(generation)b::integer[],
    %(item_id)b::text[], %(state)b::text[], %(merged_into)b::text[], %(because)b::text[], %(revision)b::bigint[],
    %(position)b::bigint[], %(decision_id)b::text[], %(occurred_at)b::timestamptz[]
)
ON CONFLICT (tenant_id, catalog_id, generation, item_id) DO UPDATE
SET state = EXCLUDED.state, merged_into = EXCLUDED.merged_into, because = EXCLUDED.because,
    revision = EXCLUDED.revision, position = EXCLUDED.position, decision_id = EXCLUDED.decision_id,
    occurred_at = EXCLUDED.occurred_at
WHERE item.revision < EXCLUDED.revision;

-- name: upsert_mappings
-- Show these mappings as their last event states them.
INSERT INTO mapping (
    tenant_id, catalog_id, generation, listing_id, item_id, home_item_id, source_id, listing_key, serial, url, group_key,
    via, score, evidence, because, revision, position, decision_id, occurred_at
)
SELECT * FROM unnest(
    %(tenant_id)b::text[], %(catalog_id)b::text[], %(generation)b::integer[],
    %(listing_id)b::text[], %(item_id)b::text[], %(home_item_id)b::text[], %(source_id)b::text[],
    %(listing_key)b::text[], %(serial)b::integer[], %(url)b::text[], %(group_key)b::text[], %(via)b::text[],
    %(score)b::text[], %(evidence)b::text[], %(because)b::text[], %(revision)b::bigint[], %(position)b::bigint[],
    %(decision_id)b::text[], %(occurred_at)b::timestamptz[]
)
ON CONFLICT (tenant_id, catalog_id, generation, listing_id) DO UPDATE
SET item_id = EXCLUDED.item_id, home_item_id = EXCLUDED.home_item_id, source_id = EXCLUDED.source_id,
    listing_key = EXCLUDED.listing_key, serial = EXCLUDED.serial, url = EXCLUDED.url, group_key = EXCLUDED.group_key,
    via = EXCLUDED.via, score = EXCLUDED.score, evidence = EXCLUDED.evidence, because = EXCLUDED.because,
    revision = EXCLUDED.revision, position = EXCLUDED.position, decision_id = EXCLUDED.decision_id,
    occurred_at = EXCLUDED.occurred_at
WHERE mapping.revision < EXCLUDED.revision;

-- name: upsert_attributes
-- Show these attributes as their last event states them.
INSERT INTO attribute (
    tenant_id, catalog_id, generation, attribute_id, owner_type, owner_id, name, line, value, by, evidence, because,
    search, revision, position, decision_id, occurred_at
)
SELECT * FROM unnest(
    %(tenant_id)b::text[], %(catalog_id)b::text[], %(generation)b::integer[],
    %(attribute_id)b::text[], %(owner_type)b::text[], %(owner_id)b::text[], %(name)b::text[], %(line)b::text[],
    %(value)b::text[], %(by)b::text[], %(evidence)b::text[], %(because)b::text[], %(search)b::text[],
    %(revision)b::bigint[], %(position)b::bigint[], %(decision_id)b::text[], %(occurred_at)b::timestamptz[]
)
ON CONFLICT (tenant_id, catalog_id, generation, attribute_id) DO UPDATE
SET value = EXCLUDED.value, by = EXCLUDED.by, evidence = EXCLUDED.evidence, because = EXCLUDED.because,
    search = EXCLUDED.search, revision = EXCLUDED.revision, position = EXCLUDED.position,
    decision_id = EXCLUDED.decision_id, occurred_at = EXCLUDED.occurred_at
WHERE attribute.revision < EXCLUDED.revision;
