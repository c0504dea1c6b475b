-- name: insert_processed
-- These events have taken their effect, or came too late for one.
INSERT INTO inbox (tenant_id, catalog_id, generation, event_id, position, outcome, sha256)
SELECT * FROM unnest(
    %(tenant_id)b::text[], %(catalog_id)b::text[], %(generation)b::integer[], %(event_id)b::uuid[],
    %(position)b::bigint[], %(outcome)b::text[], %(sha256)b::bytea[]
);

-- name: read_taken
-- Known positions that one of these events names, by its position or by its id, processed or parked.
WITH wanted AS (
    SELECT * FROM unnest(
        %(tenant_id)b::text[], %(catalog_id)b::text[], %(generation)b::integer[], %(position)b::bigint[], %(event_id)b::uuid[]
    ) AS w (tenant_id, catalog_id, generation, position, event_id)
)
SELECT i.tenant_id, i.catalog_id, i.position, i.event_id
FROM wanted w JOIN inbox i USING (tenant_id, catalog_id, generation, position)
UNION
SELECT i.tenant_id, i.catalog_id, i.position, i.event_id
FROM wanted w JOIN inbox i USING (tenant_id, catalog_id, generation, event_id)
UNION
SELECT p.tenant_id, p.catalog_id, p.position, p.event_id
FROM wanted w JOIN parked p USING (tenant_id, catalog_id, generation, position)
UNION
SELECT p.tenant_id, p.catalog_id, p.position, p.event_id
FROM wanted w JOIN parked p USING (tenant_id, catalog_id, generation, event_id);

-- name: read_marks
-- What follows a position in the running digest.
SELECT position, event_id, sha256
FROM inbox
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND generation = %(generation)s AND position > %(after)s
ORDER BY position
LIMIT %(limit)s;
