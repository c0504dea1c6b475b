-- name: insert_dead_letter
-- Keep a message that nobody will work on; whichever stage comes first writes it.
INSERT INTO dead_letter (topic_id, partition, "offset", topic, tenant_id, job_id, stage, reason, cause, key, value, headers)
VALUES (%(topic_id)s, %(partition)s, %(offset)s, %(topic)s, %(tenant_id)s, %(job_id)s, %(stage)s, %(reason)s, %(cause)s,
        %(key)s, %(value)s, %(headers)s)
ON CONFLICT (topic_id, partition, "offset") DO NOTHING;
