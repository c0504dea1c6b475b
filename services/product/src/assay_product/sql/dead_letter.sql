-- name: insert_dead_letters
-- Keep records that take no effect; one that comes again is kept once.
INSERT INTO dead_letter (topic_id, partition, "offset", topic, tenant_id, reason, cause, key, value, headers)
SELECT * FROM unnest(
    %(topic_id)b::uuid[], %(partition)b::integer[], %(offset)b::bigint[], %(topic)b::text[], %(tenant_id)b::text[],
    %(reason)b::text[], %(cause)b::text[], %(key)b::bytea[], %(value)b::bytea[], %(headers)b::text[]
)
ORDER BY 1, 2, 3
ON CONFLICT (topic_id, partition, "offset") DO NOTHING;

-- name: read_unpublished
-- The oldest dead letters that are not yet in the dead-letter topic.
SELECT topic_id, partition, "offset", topic, reason, cause, key, value, headers
FROM dead_letter
WHERE published_at IS NULL
ORDER BY created_at
LIMIT %(limit)s;

-- name: mark_published
-- These dead letters are in the dead-letter topic.
UPDATE dead_letter d
SET published_at = clock_timestamp()
FROM unnest(%(topic_id)b::uuid[], %(partition)b::integer[], %(offset)b::bigint[]) AS w (topic_id, partition, "offset")
WHERE d.topic_id = w.topic_id AND d.partition = w.partition AND d."offset" = w."offset" AND d.published_at IS NULL;
