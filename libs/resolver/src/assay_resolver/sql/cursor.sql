-- name: ensure_cursor
-- The first decision of a stream makes its cursor; later ones find it.
INSERT INTO cursor (tenant_id, catalog_id, history_epoch)
VALUES (%(tenant_id)s, %(catalog_id)s, %(history_epoch)s)
ON CONFLICT DO NOTHING;

-- name: lock_cursor
-- Queue behind the stream's other writers; whatever a decision rests on is read by later statements.
SELECT position, digest FROM cursor
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s
FOR UPDATE;

-- name: read_clock
-- The moment of the decision, after the wait, and whether its epoch still takes effect.
SELECT clock_timestamp(), (SELECT state FROM history_epoch WHERE name = %(history_epoch)s);

-- name: advance_cursor
-- The stream now ends here.
UPDATE cursor SET position = %(position)s, digest = %(digest)s
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s;
