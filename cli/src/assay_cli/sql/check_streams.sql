-- name: list_streams
-- Every stream of the resolver database with its end and how far the relay has published it.
SELECT c.tenant_id, c.catalog_id, c.history_epoch, c.position, COALESCE(r.published, 0), c.digest
FROM cursor c
LEFT JOIN relay_stream r USING (tenant_id, catalog_id, history_epoch)
ORDER BY 1, 2, 3;

-- name: read_changes
-- A stream's history.
SELECT position, event_id, aggregate, id, revision, type, data FROM change
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s
ORDER BY position;

-- name: read_outbox
-- A stream's events as Kafka gets them.
SELECT position, event_id, value FROM outbox
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s
ORDER BY position;

-- name: list_generations
-- Every build of every projection that readers see.
SELECT g.tenant_id, g.catalog_id, g.generation, g.history_epoch, c.progress, c.digest
FROM generation g JOIN cursor c USING (tenant_id, catalog_id, generation)
WHERE g.state = 'live'
ORDER BY 1, 2;

-- name: read_inbox
-- What a generation has processed.
SELECT position, event_id FROM inbox
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND generation = %(generation)s
ORDER BY position;

-- name: read_projection
-- A generation's rows in the words of the events that made them.
SELECT 'item', item_id, revision, position, json_build_object('state', state, 'into', merged_into)::text FROM item
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND generation = %(generation)s
UNION ALL
SELECT 'mapping', listing_id, revision, position, json_build_object('item_id', item_id, 'home_item_id', home_item_id,
    'via', via, 'url', url, 'evidence', evidence::json)::text FROM mapping
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND generation = %(generation)s
UNION ALL
SELECT 'attribute', attribute_id, revision, position, json_build_object('value', value::json, 'by', by,
    'evidence', evidence::json)::text FROM attribute
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND generation = %(generation)s;

-- name: list_evidence
-- What must lie in the bucket.
SELECT tenant_id, sha256, bytes FROM evidence WHERE state = 'stored' ORDER BY 1, 2;

-- name: list_open_jobs
-- Work that is still to be done, with the place of its last send.
SELECT stage, attempt, sent_partition, sent_offset, tenant_id || ' ' || job_id FROM job
WHERE state = 'open' AND sent_offset IS NOT NULL;

-- name: list_dead_letters
-- What was given up on, by place.
SELECT topic_id::text, partition, "offset" FROM dead_letter;

-- name: read_offsets
-- Where product stands in Kafka by its own database.
SELECT topic_id::text, partition, next_offset FROM kafka_offset;
