-- name: register_streams
-- Give each stream seen for the first time its bucket, for good: a hash of its name now, a stored number from then on.
INSERT INTO relay_stream (tenant_id, catalog_id, history_epoch, bucket)
SELECT tenant_id, catalog_id, history_epoch,
       (hashtextextended(tenant_id || '/' || catalog_id || '/' || history_epoch, 0) & 1023)
           %% (SELECT count(*) FROM relay_bucket)
FROM unnest(%(tenants)b::text[], %(catalogs)b::text[], %(epochs)b::text[]) AS seen (tenant_id, catalog_id, history_epoch)
ON CONFLICT DO NOTHING;

-- name: list_unregistered
-- Streams that have events and no bucket yet.
SELECT tenant_id, catalog_id, history_epoch FROM cursor
WHERE position > 0 AND NOT EXISTS (
    SELECT FROM relay_stream AS known
    WHERE (known.tenant_id, known.catalog_id, known.history_epoch)
        = (cursor.tenant_id, cursor.catalog_id, cursor.history_epoch)
);

-- name: list_behind
-- The full compare of some buckets: every stream whose published mark is short of its cursor.
SELECT stream.tenant_id, stream.catalog_id, stream.history_epoch, stream.bucket, stream.published,
       stream.published_id, cursor.position
FROM relay_stream AS stream JOIN cursor USING (tenant_id, catalog_id, history_epoch)
WHERE stream.bucket = ANY(%(buckets)b::smallint[]) AND cursor.position > stream.published;

-- name: find_streams
-- Bucket and durable mark of these streams.
SELECT stream.tenant_id, stream.catalog_id, stream.history_epoch, stream.bucket, stream.published,
       stream.published_id, wanted.position
FROM unnest(%(tenants)b::text[], %(catalogs)b::text[], %(epochs)b::text[], %(positions)b::bigint[])
     AS wanted (tenant_id, catalog_id, history_epoch, position)
JOIN relay_stream AS stream USING (tenant_id, catalog_id, history_epoch);

-- name: mark_published
-- Move the marks of acknowledged events, forward only, in the terms that this relay still holds; `held` as it is now.
UPDATE relay_stream AS stream
SET published = GREATEST(stream.published, acked.position),
    published_id = GREATEST(stream.published_id, acked.outbox_id),
    held = acked.held
FROM unnest(%(tenants)b::text[], %(catalogs)b::text[], %(epochs)b::text[], %(terms)b::bigint[],
            %(positions)b::bigint[], %(ids)b::bigint[], %(helds)b::text[])
     AS acked (tenant_id, catalog_id, history_epoch, lease_epoch, position, outbox_id, held),
     relay_bucket AS lease
WHERE (stream.tenant_id, stream.catalog_id, stream.history_epoch)
    = (acked.tenant_id, acked.catalog_id, acked.history_epoch)
  AND lease.bucket = stream.bucket AND lease.owner = %(owner)s AND lease.lease_epoch = acked.lease_epoch;

-- name: hold_stream
-- Say on the row why this stream does not go on.
UPDATE relay_stream AS stream SET held = %(reason)s
FROM relay_bucket AS lease
WHERE stream.tenant_id = %(tenant_id)s AND stream.catalog_id = %(catalog_id)s
  AND stream.history_epoch = %(history_epoch)s
  AND lease.bucket = stream.bucket AND lease.owner = %(owner)s AND lease.lease_epoch = %(lease_epoch)s;
