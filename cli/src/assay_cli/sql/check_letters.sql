-- name: find_kept
-- Which of these places of one topic have a dead letter.
SELECT d.partition, d."offset"
FROM dead_letter d JOIN unnest(%(partitions)s::integer[], %(offsets)s::bigint[]) AS w (partition, "offset")
    USING (partition, "offset")
WHERE d.topic_id = %(topic_id)s;

-- name: list_letters
-- What was given up on of a topic, with the tenant whose people may see it.
SELECT topic_id, partition, "offset", tenant_id, key, value FROM dead_letter WHERE topic = %(topic)s;

-- name: list_published
-- What the dead-letter topic is said to have.
SELECT topic_id, partition, "offset", published_at FROM dead_letter
WHERE topic = %(topic)s AND published_at IS NOT NULL;

-- name: find_values
-- The bytes of some letters.
SELECT d.topic_id, d.partition, d."offset", d.value
FROM dead_letter d
JOIN unnest(%(topic_ids)s::uuid[], %(partitions)s::integer[], %(offsets)s::bigint[])
    AS w (topic_id, partition, "offset") USING (topic_id, partition, "offset");
