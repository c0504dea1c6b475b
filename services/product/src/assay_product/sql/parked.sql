-- name: insert_parked
-- Hold these events until what they wait for is there.
INSERT INTO parked (
    tenant_id, catalog_id, generation, position, event_id, value, reason, waits_for_type, waits_for_id, waits_for_revision
)
SELECT * FROM unnest(
    %(tenant_id)b::text[], %(catalog_id)b::text[], %(generation)b::integer[], %(position)b::bigint[], %(event_id)b::uuid[],
    %(value)b::bytea[], %(reason)b::text[], %(waits_for_type)b::text[], %(waits_for_id)b::text[],
    %(waits_for_revision)b::bigint[]
)
ON CONFLICT (tenant_id, catalog_id, generation, position) DO UPDATE
SET reason = EXCLUDED.reason, waits_for_type = EXCLUDED.waits_for_type, waits_for_id = EXCLUDED.waits_for_id,
    waits_for_revision = EXCLUDED.waits_for_revision
WHERE parked.event_id = EXCLUDED.event_id;

-- name: read_waiting
-- Parked events that waited for one of these revisions, in the order of their positions.
SELECT p.value
FROM parked p
JOIN unnest(%(type)b::text[], %(id)b::text[], %(revision)b::bigint[]) AS w (type, id, revision)
    ON p.waits_for_type = w.type AND p.waits_for_id = w.id AND p.waits_for_revision <= w.revision
WHERE p.tenant_id = %(tenant_id)s AND p.catalog_id = %(catalog_id)s AND p.generation = %(generation)s
ORDER BY p.position
LIMIT %(limit)s;

-- name: read_ready
-- Parked events of one generation whose wait is over, however it came to be over, in the order of their positions.
SELECT p.value
FROM parked p
WHERE p.tenant_id = %(tenant_id)s AND p.catalog_id = %(catalog_id)s AND p.generation = %(generation)s
  AND CASE p.reason
      WHEN 'halted' THEN true
      WHEN 'data' THEN false
      ELSE p.waits_for_revision <= CASE p.waits_for_type
          WHEN 'item' THEN (
              SELECT i.revision FROM item i WHERE i.tenant_id = p.tenant_id AND i.catalog_id = p.catalog_id
              AND i.generation = p.generation AND i.item_id = p.waits_for_id)
          WHEN 'mapping' THEN (
              SELECT m.revision FROM mapping m WHERE m.tenant_id = p.tenant_id AND m.catalog_id = p.catalog_id
              AND m.generation = p.generation AND m.listing_id = p.waits_for_id)
          ELSE (
              SELECT a.revision FROM attribute a WHERE a.tenant_id = p.tenant_id AND a.catalog_id = p.catalog_id
              AND a.generation = p.generation AND a.attribute_id = p.waits_for_id)
          END
      END
ORDER BY p.position
LIMIT %(limit)s;

-- name: delete_released
-- These positions wait no longer: they are processed in the same transaction.
DELETE FROM parked
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND generation = %(generation)s
  AND position = ANY (%(position)b::bigint[]);
