-- name: read_offsets
-- Where apply stands in the partitions of one topic.
SELECT partition, next_offset FROM kafka_offset WHERE topic_id = %(topic_id)s;

-- name: move_offsets
-- Everything below these offsets has taken effect; a replay of older ones does not move them back.
INSERT INTO kafka_offset (topic_id, partition, next_offset)
SELECT * FROM unnest(%(topic_id)b::uuid[], %(partition)b::integer[], %(next_offset)b::bigint[])
ORDER BY 1, 2
ON CONFLICT (topic_id, partition) DO UPDATE
SET next_offset = EXCLUDED.next_offset WHERE kafka_offset.next_offset < EXCLUDED.next_offset;
