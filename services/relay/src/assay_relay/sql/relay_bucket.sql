-- name: list_leases
-- What this relay holds, and under which term.
SELECT bucket, lease_epoch FROM relay_bucket WHERE owner = %(owner)s;

-- name: count_buckets
-- All there is to share.
SELECT count(*) FROM relay_bucket;

-- name: claim_buckets
-- Begin a new term on free buckets; one that another relay is claiming right now is left to it.
UPDATE relay_bucket AS mine SET owner = %(owner)s, lease_epoch = mine.lease_epoch + 1
FROM (
    SELECT bucket FROM relay_bucket WHERE owner IS NULL LIMIT %(wanted)s FOR NO KEY UPDATE SKIP LOCKED
) AS free
WHERE mine.bucket = free.bucket;

-- name: release_buckets
-- Give these back, to whoever has fewer.
UPDATE relay_bucket SET owner = NULL WHERE owner = %(owner)s AND bucket = ANY(%(buckets)b::smallint[]);
