-- name: read_sequence
-- The last id given out; in a statement of its own, before the transaction id that makes it a barrier.
SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM outbox_id_seq;

-- name: take_transaction
-- A transaction id younger than every writer that holds an id up to the sequence value read before.
SELECT pg_current_xact_id()::text::bigint;

-- name: read_horizon
-- All transactions below this one are over.
SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint;

-- name: find_news
-- Streams with rows behind the head, how far they go, and the ids in between that are not visible yet.
SELECT tenant_id, catalog_id, history_epoch, max(position), max(id),
       range_agg(int8range(previous + 1, id)) FILTER (WHERE id > previous + 1)
FROM (
    SELECT tenant_id, catalog_id, history_epoch, position, id,
           lag(id, 1, %(head)s::bigint) OVER (ORDER BY id) AS previous
    FROM outbox WHERE id > %(head)s::bigint ORDER BY id LIMIT %(rows)s
) AS slice
GROUP BY tenant_id, catalog_id, history_epoch;

-- name: find_late
-- Streams with rows that became visible inside the gaps.
SELECT tenant_id, catalog_id, history_epoch, max(position)
FROM unnest(%(lows)b::bigint[], %(highs)b::bigint[]) AS gap (low, high)
JOIN outbox ON outbox.id >= gap.low AND outbox.id < gap.high
GROUP BY tenant_id, catalog_id, history_epoch;

-- name: read_events
-- The next events of each wanted stream, in position order; `n` is the stream's place in the request.
SELECT wanted.n, event.id, event.position, event.event_id::text, event.value
FROM unnest(%(tenants)b::text[], %(catalogs)b::text[], %(epochs)b::text[], %(afters)b::bigint[],
            %(untils)b::bigint[], %(after_ids)b::bigint[])
     WITH ORDINALITY AS wanted (tenant_id, catalog_id, history_epoch, after, until, after_id, n),
LATERAL (
    SELECT id, position, event_id, value FROM outbox
    WHERE outbox.tenant_id = wanted.tenant_id AND outbox.catalog_id = wanted.catalog_id
      AND outbox.history_epoch = wanted.history_epoch
      AND outbox.position > wanted.after AND outbox.position <= wanted.until AND outbox.id > wanted.after_id
    ORDER BY outbox.position
) AS event;

-- name: measure_age
-- How long the oldest of these next events has waited, in seconds.
SELECT COALESCE(max(extract(epoch FROM clock_timestamp() - event.created_at)), 0)::float8
FROM unnest(%(tenants)b::text[], %(catalogs)b::text[], %(epochs)b::text[], %(afters)b::bigint[],
            %(after_ids)b::bigint[]) AS wanted (tenant_id, catalog_id, history_epoch, after, after_id)
JOIN outbox AS event ON event.tenant_id = wanted.tenant_id AND event.catalog_id = wanted.catalog_id
    AND event.history_epoch = wanted.history_epoch AND event.position = wanted.after + 1
    AND event.id > wanted.after_id;

-- name: add_partitions
-- Make the partitions that the next ids will need.
SELECT outbox_add_partitions(%(ahead)s);
