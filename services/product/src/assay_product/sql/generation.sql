-- name: create_generation
-- The first generation of each catalog that has no live one; two appliers at once make it once, in sorted order.
INSERT INTO generation (tenant_id, catalog_id, generation, history_epoch, state)
SELECT w.tenant_id, w.catalog_id, 1, %(history_epoch)s, 'live'
FROM unnest(%(tenant_id)b::text[], %(catalog_id)b::text[]) AS w (tenant_id, catalog_id)
WHERE NOT EXISTS (
    SELECT FROM generation g WHERE g.tenant_id = w.tenant_id AND g.catalog_id = w.catalog_id AND g.state = 'live'
)
ORDER BY w.tenant_id COLLATE "C", w.catalog_id COLLATE "C"
ON CONFLICT DO NOTHING;

-- name: lock_live
-- Become the only writer of these catalogs' live generations, in sorted order, so that no two batches block each other.
SELECT g.tenant_id, g.catalog_id, g.generation, g.history_epoch
FROM generation g
JOIN unnest(%(tenant_id)b::text[], %(catalog_id)b::text[]) AS w (tenant_id, catalog_id)
    ON g.tenant_id = w.tenant_id AND g.catalog_id = w.catalog_id
WHERE g.state = 'live'
ORDER BY g.tenant_id COLLATE "C", g.catalog_id COLLATE "C"
FOR NO KEY UPDATE OF g;

-- name: list_held
-- Catalogs whose live generation waits for something, to be looked at again.
SELECT g.tenant_id, g.catalog_id
FROM generation g JOIN cursor c USING (tenant_id, catalog_id, generation)
WHERE g.state = 'live' AND c.processed < c.highest
ORDER BY g.tenant_id COLLATE "C", g.catalog_id COLLATE "C";

-- name: measure_holds
-- Over all live generations: how many wait, how many are halted, how many events are parked, how many positions are missing.
SELECT count(*) FILTER (WHERE c.processed < c.highest), count(c.halted), COALESCE(sum(p.parked), 0),
       COALESCE(sum(c.highest - c.processed - p.parked), 0)
FROM generation g JOIN cursor c USING (tenant_id, catalog_id, generation)
CROSS JOIN LATERAL (
    SELECT count(*) AS parked FROM parked p
    WHERE c.processed < c.highest
      AND p.tenant_id = c.tenant_id AND p.catalog_id = c.catalog_id AND p.generation = c.generation
) p
WHERE g.state = 'live';
