-- name: claim_letters
-- The oldest dead letters that are not on their topic yet.
UPDATE dead_letter AS letter SET sweep_until = clock_timestamp() + make_interval(secs => %(claim_seconds)s)
FROM (
    SELECT topic_id, partition, "offset" FROM dead_letter
    WHERE published_at IS NULL AND (sweep_until IS NULL OR sweep_until <= clock_timestamp())
    ORDER BY created_at LIMIT %(rows)s
    FOR NO KEY UPDATE SKIP LOCKED
) AS due
WHERE (letter.topic_id, letter.partition, letter."offset") = (due.topic_id, due.partition, due."offset")
RETURNING letter.topic_id, letter.partition, letter."offset", letter.topic, letter.reason, letter.cause,
          letter.key, letter.value, letter.headers;

-- name: mark_letters
-- They are on their topic.
UPDATE dead_letter AS letter SET published_at = clock_timestamp(), sweep_until = NULL
FROM unnest(%(topic_ids)b::uuid[], %(partitions)b::integer[], %(offsets)b::bigint[])
     AS copied (topic_id, partition, log_offset)
WHERE letter.topic_id = copied.topic_id AND letter.partition = copied.partition
  AND letter."offset" = copied.log_offset AND letter.published_at IS NULL;

-- name: return_letters
-- What could not be copied now is anybody's again.
UPDATE dead_letter AS letter SET sweep_until = NULL
FROM unnest(%(topic_ids)b::uuid[], %(partitions)b::integer[], %(offsets)b::bigint[])
     AS mine (topic_id, partition, log_offset)
WHERE letter.topic_id = mine.topic_id AND letter.partition = mine.partition
  AND letter."offset" = mine.log_offset AND letter.published_at IS NULL;
