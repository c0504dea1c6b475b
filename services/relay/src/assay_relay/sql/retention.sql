-- name: take_control
-- The one lock of retention: taken first by whoever registers, reports, leases or prunes.
SELECT FROM retention_control FOR UPDATE;

-- name: find_consumer
-- A consumer as it was registered.
SELECT kind, every_stream, registered_by,
       ARRAY(SELECT s.tenant_id || '/' || s.catalog_id FROM consumer_stream s WHERE s.name = c.name ORDER BY 1) AS catalogs
FROM consumer c WHERE c.name = %(name)s;

-- name: insert_consumer
-- From now on pruning asks this one too.
INSERT INTO consumer (name, kind, every_stream, registered_by)
VALUES (%(name)s, %(kind)s, %(every_stream)s, %(registered_by)s);

-- name: insert_consumer_catalog
-- One of the catalogs that a consumer reads, in every epoch.
INSERT INTO consumer_stream (name, tenant_id, catalog_id) VALUES (%(name)s, %(tenant_id)s, %(catalog_id)s);

-- name: delete_consumer
-- Forget a consumer and its progress; the act is kept elsewhere.
DELETE FROM consumer WHERE name = %(name)s;

-- name: insert_act
-- Who did what to retention, and why.
INSERT INTO retention_act (actor, act, subject, because) VALUES (%(actor)s, %(act)s, %(subject)s, %(because)s);

-- name: find_stream
-- Where a stream begins and ends, and whether its epoch is open.
SELECT c.position, c.digest, COALESCE(r.published, 0), COALESCE(f.pruned_through, 0), COALESCE(f.digest, c0.digest),
       e.state
FROM cursor c
CROSS JOIN (VALUES ('\x0000000000000000000000000000000000000000000000000000000000000000'::bytea)) AS c0 (digest)
JOIN history_epoch e ON e.name = c.history_epoch
LEFT JOIN relay_stream r USING (tenant_id, catalog_id, history_epoch)
LEFT JOIN stream_floor f USING (tenant_id, catalog_id, history_epoch)
WHERE c.tenant_id = %(tenant_id)s AND c.catalog_id = %(catalog_id)s AND c.history_epoch = %(history_epoch)s;

-- name: move_progress
-- Move a consumer's progress forward, and say where it stands now.
INSERT INTO consumer_progress AS p (name, tenant_id, catalog_id, history_epoch, position)
VALUES (%(name)s, %(tenant_id)s, %(catalog_id)s, %(history_epoch)s, %(position)s)
ON CONFLICT (name, tenant_id, catalog_id, history_epoch) DO UPDATE
SET position = EXCLUDED.position, moved_at = clock_timestamp() WHERE p.position < EXCLUDED.position;

-- name: find_progress
-- How far a consumer has said that it has come.
SELECT position FROM consumer_progress
WHERE name = %(name)s AND tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s
  AND history_epoch = %(history_epoch)s;

-- name: note_report
-- The consumer has spoken.
UPDATE consumer SET reported_at = clock_timestamp() WHERE name = %(name)s;

-- name: insert_lease
-- Pin what is above the floor of now; the control row is locked, so no pruning comes between.
INSERT INTO retention_lease (lease_id, tenant_id, catalog_id, history_epoch, position, purpose, held_by, expires_at)
VALUES (%(lease_id)s, %(tenant_id)s, %(catalog_id)s, %(history_epoch)s, %(position)s, %(purpose)s, %(held_by)s,
        clock_timestamp() + %(seconds)s * interval '1 second')
RETURNING expires_at;

-- name: find_lease
-- A lease, and whether it still holds at this moment.
SELECT lease_id, tenant_id, catalog_id, history_epoch, position, purpose, held_by, expires_at,
       expires_at > clock_timestamp()
FROM retention_lease WHERE lease_id = %(lease_id)s;

-- name: move_lease
-- Let a lease that still holds go on, and forward if it may; nothing comes back once it has expired.
UPDATE retention_lease
SET position = GREATEST(position, %(position)s),
    expires_at = GREATEST(expires_at, clock_timestamp() + %(seconds)s * interval '1 second')
WHERE lease_id = %(lease_id)s AND expires_at > clock_timestamp()
RETURNING position, expires_at;

-- name: delete_lease
-- The lease is given back.
DELETE FROM retention_lease WHERE lease_id = %(lease_id)s;

-- name: release_stream
-- No consumer needs this stream of a closed epoch any more: somebody said so.
INSERT INTO stream_floor AS f (tenant_id, catalog_id, history_epoch, released_by)
VALUES (%(tenant_id)s, %(catalog_id)s, %(history_epoch)s, %(actor)s)
ON CONFLICT (tenant_id, catalog_id, history_epoch) DO UPDATE SET released_by = COALESCE(f.released_by, EXCLUDED.released_by);

-- name: list_every_stream
-- Names of streams of every tenant, a page.
SELECT tenant_id, catalog_id, history_epoch
FROM every_stream_after(%(after_tenant)s, %(after_catalog)s, %(after_epoch)s, %(limit)s);

-- name: list_streams
-- Names of the streams of the tenant of this transaction, a page.
SELECT tenant_id, catalog_id, history_epoch FROM cursor
WHERE tenant_id = %(tenant_id)s
  AND (tenant_id, catalog_id, history_epoch) > (%(after_tenant)s, %(after_catalog)s, %(after_epoch)s)
ORDER BY tenant_id, catalog_id, history_epoch LIMIT %(limit)s;

-- name: list_keepers
-- Who keeps a stream: each consumer that reads it and each lease on it, lowest position first.
SELECT 'consumer' AS type, c.name AS name, c.kind AS kind, COALESCE(p.position, f.floor) AS position,
       p.position IS NOT NULL AS has_spoken, c.reported_at AS seen_at, NULL::timestamptz AS until,
       c.kind = 'live' AS holds
FROM (SELECT COALESCE(max(pruned_through), 0) AS floor FROM stream_floor
      WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s) AS f
CROSS JOIN consumer c
LEFT JOIN consumer_progress p ON p.name = c.name AND p.tenant_id = %(tenant_id)s AND p.catalog_id = %(catalog_id)s
    AND p.history_epoch = %(history_epoch)s
WHERE c.every_stream OR EXISTS (
    SELECT FROM consumer_stream s
    WHERE s.name = c.name AND s.tenant_id = %(tenant_id)s AND s.catalog_id = %(catalog_id)s)
UNION ALL
SELECT 'lease', l.lease_id, l.purpose, l.position, true, l.created_at, l.expires_at, l.expires_at > clock_timestamp()
FROM retention_lease l
WHERE l.tenant_id = %(tenant_id)s AND l.catalog_id = %(catalog_id)s AND l.history_epoch = %(history_epoch)s
ORDER BY 4, 1, 2;

-- name: find_release
-- Who said that no consumer needs this stream any more, if somebody did.
SELECT released_by FROM stream_floor
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s;

-- name: list_consumers
-- Every consumer with the age of its last report, oldest first.
SELECT name, kind, every_stream, registered_at, registered_by, reported_at,
       extract(epoch FROM clock_timestamp() - COALESCE(reported_at, registered_at))::float8 AS silent_seconds
FROM consumer ORDER BY COALESCE(reported_at, registered_at), name;

-- name: find_catalog
-- Whether there is such a catalog.
SELECT 1 FROM catalog WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s;

-- name: list_raised_floors
-- Streams of every tenant of which something is gone.
SELECT tenant_id, catalog_id, history_epoch, pruned_through FROM every_raised_floor();
