-- name: find_open_epoch
-- The epoch that a request means when it names none.
SELECT name FROM history_epoch WHERE state = 'open';

-- name: list_epochs
-- Every incarnation of the history, oldest first.
SELECT ordinal, name, state FROM history_epoch ORDER BY ordinal;

-- name: read_page
-- Events behind a position, in order; from a size on the page ends, after one event at least.
SELECT position, event_id, value FROM (
    SELECT position, event_id, value, sum(octet_length(value)) OVER (ORDER BY position) - octet_length(value) AS before
    FROM (
        SELECT position, event_id, value FROM outbox
        WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s
          AND position > %(after)s AND position <= %(until)s
        UNION
        SELECT position, event_id, value FROM outbox_kept
        WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s
          AND position > %(after)s AND position <= %(until)s
    ) AS held
) AS sized WHERE before < %(most_bytes)s ORDER BY position;

-- name: read_hashes
-- What the running digest takes of each event behind a position.
SELECT position, event_id, sha256 FROM (
    SELECT position, event_id, sha256(value) AS sha256 FROM outbox
    WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s
      AND position > %(after)s AND position <= %(until)s
    UNION
    SELECT position, event_id, sha256(value) FROM outbox_kept
    WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s
      AND position > %(after)s AND position <= %(until)s
) AS held ORDER BY position;

-- name: count_changes
-- How many positions up to one the history holds, gap or not: changes are never pruned.
SELECT count(*) FROM change
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s
  AND position BETWEEN 1 AND %(until)s;

-- name: find_anchor
-- The nearest snapshot at or below a position, whose digest is known.
SELECT position, digest FROM snapshot
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s
  AND position <= %(until)s ORDER BY position DESC LIMIT 1;

-- name: find_snapshot
-- A snapshot by its position, the latest where none is named.
SELECT position, digest, sha256, bytes, facts, is_genesis, created_at FROM snapshot
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s
  AND (%(position)s::bigint IS NULL OR position = %(position)s) ORDER BY position DESC LIMIT 1;

-- name: insert_snapshot
-- A snapshot whose object is in the bucket.
INSERT INTO snapshot (tenant_id, catalog_id, history_epoch, position, digest, sha256, bytes, facts, is_genesis)
VALUES (%(tenant_id)s, %(catalog_id)s, %(history_epoch)s, %(position)s, %(digest)s, %(sha256)s, %(bytes)s, %(facts)s,
        %(is_genesis)s)
ON CONFLICT DO NOTHING;
