-- name: list_letters
-- A page of the tenant's dead letters, newest first, from the one before which it begins.
SELECT topic_id, partition, "offset", topic, job_id, stage, reason, cause, octet_length(value) AS size_bytes,
       created_at, published_at
FROM dead_letter
WHERE tenant_id = %(tenant_id)s
  AND (%(topic_id)s::uuid IS NULL OR (created_at, topic_id, partition, "offset") < (
      SELECT created_at, topic_id, partition, "offset" FROM dead_letter
      WHERE tenant_id = %(tenant_id)s AND topic_id = %(topic_id)s AND partition = %(partition)s
        AND "offset" = %(offset)s))
ORDER BY created_at DESC, topic_id DESC, partition DESC, "offset" DESC
LIMIT %(limit)s;
