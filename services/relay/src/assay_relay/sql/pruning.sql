-- name: take_control
-- The one lock of retention: taken first by whoever registers, reports, leases or prunes.
SELECT FROM retention_control FOR UPDATE;

-- name: note_raise
-- Pruning was here.
UPDATE retention_control SET raised_at = clock_timestamp();

-- name: find_limits
-- Streams that hold more than they need, with their floor and how far it may rise: up to what is published, and up to
-- the least that a live consumer has said or a standing lease pins. Where no live consumer reads a stream nothing goes,
-- unless an explicit act released it. A consumer that has not spoken of a stream stands at its floor.
SELECT s.tenant_id, s.catalog_id, s.history_epoch, COALESCE(f.pruned_through, 0), COALESCE(f.digest, c0.digest),
       LEAST(s.published, leases.least,
             CASE WHEN f.released_by IS NOT NULL THEN s.published ELSE COALESCE(consumers.least, f.pruned_through, 0) END)
FROM relay_stream s
CROSS JOIN (VALUES ('\x0000000000000000000000000000000000000000000000000000000000000000'::bytea)) AS c0 (digest)
LEFT JOIN stream_floor f USING (tenant_id, catalog_id, history_epoch)
CROSS JOIN LATERAL (
    SELECT min(COALESCE(p.position, f.pruned_through, 0)) AS least FROM consumer c
    LEFT JOIN consumer_progress p ON p.name = c.name AND (p.tenant_id, p.catalog_id, p.history_epoch)
        = (s.tenant_id, s.catalog_id, s.history_epoch)
    WHERE c.kind = 'live' AND (c.every_stream OR EXISTS (
        SELECT FROM consumer_stream r
        WHERE (r.name, r.tenant_id, r.catalog_id) = (c.name, s.tenant_id, s.catalog_id)))
) AS consumers
CROSS JOIN LATERAL (
    SELECT min(l.position) AS least FROM retention_lease l
    WHERE (l.tenant_id, l.catalog_id, l.history_epoch) = (s.tenant_id, s.catalog_id, s.history_epoch)
      AND l.expires_at > clock_timestamp()
) AS leases
WHERE s.published > COALESCE(f.pruned_through, 0)
  AND (%(tenants)s::text[] IS NULL OR (s.tenant_id, s.catalog_id, s.history_epoch) IN (
      SELECT * FROM unnest(%(tenants)s::text[], %(catalogs)s::text[], %(epochs)s::text[])))
ORDER BY s.tenant_id COLLATE "C", s.catalog_id COLLATE "C", s.history_epoch COLLATE "C";

-- name: read_prefix
-- The next events behind a floor, in order, with whether each is past its retention age.
SELECT position, event_id, value, created_at < clock_timestamp() - %(age_seconds)s * interval '1 second'
FROM (
    SELECT position, event_id, value, created_at FROM outbox
    WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s
      AND position > %(after)s AND position <= %(until)s
    UNION
    SELECT position, event_id, value, created_at FROM outbox_kept
    WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s
      AND position > %(after)s AND position <= %(until)s
) AS held ORDER BY position;

-- name: raise_floor
-- The stream begins later now: everything up to there is gone for readers, whatever is still on disk.
INSERT INTO stream_floor AS f (tenant_id, catalog_id, history_epoch, pruned_through, digest, raised_at)
VALUES (%(tenant_id)s, %(catalog_id)s, %(history_epoch)s, %(until)s, %(digest)s, clock_timestamp())
ON CONFLICT (tenant_id, catalog_id, history_epoch) DO UPDATE
SET pruned_through = EXCLUDED.pruned_through, digest = EXCLUDED.digest, raised_at = EXCLUDED.raised_at
WHERE f.pruned_through < EXCLUDED.pruned_through;

-- name: delete_expired
-- Leases that have held nothing for a while.
DELETE FROM retention_lease WHERE expires_at < clock_timestamp() - interval '1 hour'
RETURNING lease_id, tenant_id, catalog_id, history_epoch, position;

-- name: trim_kept
-- What was kept for a laggard that has caught up.
DELETE FROM outbox_kept k USING stream_floor f
WHERE (k.tenant_id, k.catalog_id, k.history_epoch) = (f.tenant_id, f.catalog_id, f.history_epoch)
  AND k.position <= f.pruned_through;

-- name: list_partitions
-- The partitions of the outbox by their ids, oldest first, with whether a detach was begun and not finished.
SELECT c.relname, bounds[1]::bigint, bounds[2]::bigint, i.inhdetachpending
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid,
     regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \(''?(\d+)''?\) TO \(''?(\d+)''?\)') AS bounds
WHERE i.inhparent = 'outbox'::regclass ORDER BY 2;

-- name: list_detached
-- Tables that were partitions of the outbox and are not any more.
SELECT relname FROM pg_class c
WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname ~ '^outbox_\d+$' AND NOT relispartition
ORDER BY relname;

-- name: count_needed
-- Rows below an outbox id that are above their stream's floor: how many unpublished ones, and how many others, at most
-- `most` of a stream. A probe of the index for each stream, whatever the size of the partition.
SELECT COALESCE(sum(found.unpublished), 0)::bigint, COALESCE(sum(found.rows), 0)::bigint
FROM cursor s
LEFT JOIN relay_stream r USING (tenant_id, catalog_id, history_epoch)
LEFT JOIN stream_floor f USING (tenant_id, catalog_id, history_epoch)
CROSS JOIN LATERAL (
    SELECT count(*) AS rows, count(*) FILTER (WHERE position > COALESCE(r.published, 0)) AS unpublished
    FROM (
        SELECT position FROM outbox o
        WHERE (o.tenant_id, o.catalog_id, o.history_epoch) = (s.tenant_id, s.catalog_id, s.history_epoch)
          AND o.position > COALESCE(f.pruned_through, 0) AND o.id >= %(low)s AND o.id < %(high)s
        LIMIT %(most)s
    ) AS probe
) AS found;

-- name: keep_needed
-- Copy what is still needed of a range of ids to where it holds nobody else's disk.
INSERT INTO outbox_kept (tenant_id, catalog_id, history_epoch, position, id, event_id, value, created_at)
SELECT o.tenant_id, o.catalog_id, o.history_epoch, o.position, o.id, o.event_id, o.value, o.created_at
FROM cursor s LEFT JOIN stream_floor f USING (tenant_id, catalog_id, history_epoch)
JOIN outbox o ON (o.tenant_id, o.catalog_id, o.history_epoch) = (s.tenant_id, s.catalog_id, s.history_epoch)
    AND o.position > COALESCE(f.pruned_through, 0) AND o.id >= %(low)s AND o.id < %(high)s
ON CONFLICT DO NOTHING;

-- name: read_sequence
-- The last outbox id that was given out.
SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM outbox_id_seq;

-- name: take_transaction
-- A transaction id younger than every writer that holds an id up to the sequence value read before.
SELECT pg_current_xact_id()::text::bigint;

-- name: read_horizon
-- All transactions below this one are over.
SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint;

-- name: measure_retention
-- Over all streams and live consumers: the longest silence, and over streams: events kept, and the oldest one's age.
SELECT COALESCE((SELECT max(extract(epoch FROM clock_timestamp() - COALESCE(reported_at, registered_at)))
                 FROM consumer WHERE kind = 'live'), 0)::float8,
       COALESCE((SELECT sum(c.position - COALESCE(f.pruned_through, 0)) FROM cursor c
                 LEFT JOIN stream_floor f USING (tenant_id, catalog_id, history_epoch)), 0)::bigint,
       (SELECT count(*) FROM retention_lease WHERE expires_at > clock_timestamp()),
       (SELECT count(*) FROM consumer WHERE kind = 'live'),
       (SELECT count(*) FROM outbox_kept);

-- name: list_silent
-- Live consumers that have not spoken for so long.
SELECT name, extract(epoch FROM clock_timestamp() - COALESCE(reported_at, registered_at))::float8 FROM consumer
WHERE kind = 'live' AND COALESCE(reported_at, registered_at) < clock_timestamp() - %(seconds)s * interval '1 second'
ORDER BY name;
