-- name: list_streams
-- Every stream of the resolver database with its end and how far the relay has published it.
SELECT c.tenant_id, c.catalog_id, c.history_epoch, c.position, COALESCE(r.published, 0), c.digest,
       COALESCE(f.pruned_through, 0), f.digest
FROM cursor c
LEFT JOIN relay_stream r USING (tenant_id, catalog_id, history_epoch)
LEFT JOIN stream_floor f USING (tenant_id, catalog_id, history_epoch)
ORDER BY 1, 2, 3;

-- name: list_epochs
-- The incarnations of the history that are known.
SELECT name FROM history_epoch;

-- name: read_outbox
-- A stream's events as Kafka gets them, each with the change at its position.
SELECT o.position, o.event_id, o.value, h.aggregate, h.id, h.revision, h.type, h.decision_id, h.data
FROM (
    SELECT tenant_id, catalog_id, history_epoch, position, event_id, value, id FROM outbox
    UNION SELECT tenant_id, catalog_id, history_epoch, position, event_id, value, id FROM outbox_kept) AS o
LEFT JOIN change h USING (tenant_id, catalog_id, history_epoch, position)
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s
  AND position > %(floor)s
ORDER BY position, o.id;

-- name: find_positions
-- What some positions of the history hold.
SELECT h.tenant_id, h.catalog_id, h.history_epoch, h.position, h.event_id, sha256(o.value)
FROM unnest(%(tenants)s::text[], %(catalogs)s::text[], %(epochs)s::text[], %(positions)s::bigint[])
    AS w (tenant_id, catalog_id, history_epoch, position)
JOIN change h USING (tenant_id, catalog_id, history_epoch, position)
LEFT JOIN (
    SELECT tenant_id, catalog_id, history_epoch, position, value FROM outbox
    UNION SELECT tenant_id, catalog_id, history_epoch, position, value FROM outbox_kept) AS o
    USING (tenant_id, catalog_id, history_epoch, position);

-- name: read_ids
-- The events at some positions of a stream.
SELECT position, event_id FROM change
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s
  AND position = ANY(%(positions)s::bigint[]);

-- name: read_changes
-- A stream's history by aggregate.
SELECT aggregate, id, revision, position, decision_id, type, data FROM change
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s
ORDER BY aggregate COLLATE "C", id COLLATE "C", revision;

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

-- name: read_beyond
-- What a generation has processed above its contiguous progress.
SELECT position FROM inbox
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND generation = %(generation)s
  AND position > %(progress)s;

-- name: read_taken
-- What a generation has processed or parked above its contiguous progress.
SELECT position FROM inbox
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND generation = %(generation)s
  AND position > %(progress)s
UNION ALL
SELECT position FROM parked
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND generation = %(generation)s;

-- name: read_projection
-- A generation's rows by aggregate, in the words of the events that made them.
SELECT aggregate, id, revision, position, decision_id, shown FROM (
    SELECT 'attribute' AS aggregate, attribute_id AS id, revision, position, decision_id,
        json_build_object('owner', json_build_object('type', owner_type, 'id', owner_id), 'name', name,
            'line', NULLIF(line, ''), 'value', value::json, 'by', by, 'evidence', evidence::json,
            'because', because)::text AS shown
    FROM attribute
    WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND generation = %(generation)s
    UNION ALL
    SELECT 'item', item_id, revision, position, decision_id,
        json_build_object('state', state, 'into', merged_into, 'because', because)::text
    FROM item
    WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND generation = %(generation)s
    UNION ALL
    SELECT 'mapping', listing_id, revision, position, decision_id,
        json_build_object('item_id', item_id, 'home_item_id', home_item_id, 'source_id', source_id,
            'listing_key', listing_key, 'serial', serial, 'url', url, 'group_key', group_key, 'via', via,
            'score', score, 'evidence', evidence::json, 'because', because)::text
    FROM mapping
    WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND generation = %(generation)s) AS projected
ORDER BY aggregate COLLATE "C", id COLLATE "C";

-- name: read_offsets
-- Where product stands in one topic by its own database.
SELECT partition, next_offset FROM kafka_offset WHERE topic_id = %(topic_id)s;
