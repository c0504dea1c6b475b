-- name: ensure_cursor
-- Give each locked generation its cursor.
INSERT INTO cursor (tenant_id, catalog_id, generation)
SELECT * FROM unnest(%(tenant_id)b::text[], %(catalog_id)b::text[], %(generation)b::integer[])
ON CONFLICT (tenant_id, catalog_id, generation) DO NOTHING;

-- name: read_cursor
-- How far the locked generations have come; asked after the lock is held, so that the answer stays true.
SELECT c.tenant_id, c.catalog_id, c.progress, c.highest, c.processed, c.digest, c.halted
FROM cursor c
JOIN unnest(%(tenant_id)b::text[], %(catalog_id)b::text[], %(generation)b::integer[])
    AS w (tenant_id, catalog_id, generation) USING (tenant_id, catalog_id, generation);

-- name: move_cursor
-- Store how far the locked generations have come now; a cursor never goes back.
UPDATE cursor c
SET progress = w.progress, highest = w.highest, processed = w.processed, digest = w.digest, halted = w.halted,
    moved_at = clock_timestamp()
FROM unnest(
    %(tenant_id)b::text[], %(catalog_id)b::text[], %(generation)b::integer[], %(progress)b::bigint[],
    %(highest)b::bigint[], %(processed)b::bigint[], %(digest)b::bytea[], %(halted)b::text[]
) AS w (tenant_id, catalog_id, generation, progress, highest, processed, digest, halted)
WHERE c.tenant_id = w.tenant_id AND c.catalog_id = w.catalog_id AND c.generation = w.generation
  AND c.progress <= w.progress AND c.highest <= w.highest AND c.processed <= w.processed;

-- name: list_progress
-- How far each live generation of an epoch has durably come.
SELECT c.tenant_id, c.catalog_id, g.history_epoch, c.progress
FROM generation g JOIN cursor c USING (tenant_id, catalog_id, generation)
WHERE g.state = 'live' AND g.history_epoch = %(history_epoch)s
ORDER BY c.tenant_id COLLATE "C", c.catalog_id COLLATE "C";

-- name: halt_cursor
-- The stream takes no effect until a person has looked.
UPDATE cursor SET halted = %(why)s
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND generation = %(generation)s;
